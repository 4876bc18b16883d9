/* The command line: parses, dispatches to one function a command, prints the reply. The rest of cli/ is its
 * own. */
#ifndef AL_CLI_CLI_H
#define AL_CLI_CLI_H

/* The exit status of the process. */
int al_cli_main(int argc, char **argv);

#endif
