/* Help, made from the tables of commands and flags. */
#ifndef AL_CLI_HELP_H
#define AL_CLI_HELP_H

#include "base/buf.h"
#include "cli/args.h"

void al_help_all(bool color, struct al_buf *out);
void al_help_group(bool color, const struct al_group *group, struct al_buf *out);
void al_help_command(bool color, const struct al_command *command, struct al_buf *out);

#endif
