// The lanes of Argon2id on threads, in a program that links this: it defines the program's `pthread_create`, which does what
// that of the C library does, except for libargon2 while `cargon2_derive` runs. There is nothing to call. A program without it
// derives on one thread, and gets the same keys.
#pragma once
