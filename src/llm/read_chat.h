/* What the files of the reader of Chat Completions share: the calls of deltas, and the details of reasoning. */
#ifndef AL_LLM_READ_CHAT_H
#define AL_LLM_READ_CHAT_H

#include "llm/llm_int.h"

/* One "tool_calls" of a delta or a message. whole: each entry is a call of its own. */
void al_llm_chat_calls(struct al_llm_reader *r, const struct al_json *list, bool whole);
/* The old "function_call": there is only one. */
void al_llm_chat_function(struct al_llm_reader *r, const struct al_json *function);

/* "reasoning_details" of OpenRouter: pieces of the same kind that follow one another are one. */
struct al_llm_details;
void al_llm_details_add(struct al_llm_details **d, struct al_llm_reader *r, const struct al_json *list);
/* {"reasoning_details":[…]}; nothing when there are none. */
void al_llm_details_write(const struct al_llm_details *d, struct al_buf *out);
void al_llm_details_free(struct al_llm_details *d);

#endif
