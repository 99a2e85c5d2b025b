// Built-in stand-ins of getopt.h, and of getopt() in unistd.h.
#pragma once
extern "C" {
extern char *optarg;
extern int optind, opterr, optopt;
struct option { const char *name; int has_arg; int *flag; int val; };
int getopt(int, char *const *, const char *);
int getopt_long(int, char *const *, const char *, const option *, int *);
}
#define no_argument 0
#define required_argument 1
#define optional_argument 2
