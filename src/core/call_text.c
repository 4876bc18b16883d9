/* How an ended call is told to a model, whichever face made it. */
#include "core/tool.h"

void al_call_model_text(const struct al_call *call, struct al_buf *out)
{
    al_buf_add_str(out, al_buf_str(&call->text));
    /* A tool that has words of its own for its failure has put the code into them. */
    if (call->err.code == AL_OK || call->text.n > 0)
        return;
    al_buf_addf(out, "%s: %s", al_code_name(call->err.code), call->err.msg);
    if (call->err.hint[0])
        al_buf_addf(out, "\nhint: %s", call->err.hint);
}
