/* The general tools: files, search, git and programs. What they do is theirs; when they may is the core's. */
#ifndef AL_TOOLS_TOOLS_H
#define AL_TOOLS_TOOLS_H

struct al_core;

/* Registers all of them. */
void al_tools_register(struct al_core *core);

#endif
