// For the files of this directory that start programs.
#pragma once

/// The environment of this process, in which `added` (VAR=value, up to NULL) replaces what has the same name. The caller frees the list; what it
/// points to is not copied. NULL without memory.
char **clinux_environment_with(char *const added[]);
