/*
 * What hook-sqlite.awk adds to SQLite: whoever sets al_sqlite_hooks is told when a text is read as a number,
 * and when a text is ordered against something. NULL, as it is by default, leaves SQLite as it was. Included
 * before sqlite3.c, too.
 */
#ifndef AL_SQLITE_HOOKS_H
#define AL_SQLITE_HOOKS_H

struct sqlite3;

enum al_sqlite_where {
    AL_SQLITE_ARITHMETIC, /* an operand of + - * / % */
    AL_SQLITE_VALUE,      /* an argument of a function, a cast, or an operand of & | << >> */
    AL_SQLITE_INTEGER,    /* the same, where an integer is wanted: "1e5" would be 1 */
    AL_SQLITE_TRUTH,      /* a condition */
};

/* In the order of SQLite's opcodes OP_Ne to OP_Ge. */
enum al_sqlite_comparison {
    AL_SQLITE_NE,
    AL_SQLITE_EQ,
    AL_SQLITE_GT,
    AL_SQLITE_LE,
    AL_SQLITE_LT,
    AL_SQLITE_GE,
    AL_SQLITE_MINMAX, /* within min() or max() */
};

struct al_sqlite_operand {
    char kind;     /* 'i', 'r', 't' a text, 'b' a blob or NULL */
    const char *z; /* of a text: n bytes, maybe without a zero behind them */
    int n;
    long long i;
    double r;
};

struct al_sqlite_hooks {
    /* The text is not wholly a number (AL_SQLITE_INTEGER: it may be one). SQLite goes on with what it makes
     * of it. */
    void (*text)(struct sqlite3 *db, enum al_sqlite_where where, const char *z, int n);
    /* At least one is a text; two texts are not told of when they are compared for = or <>. */
    void (*compared)(struct sqlite3 *db, enum al_sqlite_comparison how, const struct al_sqlite_operand *left,
                     const struct al_sqlite_operand *right);
};
extern const struct al_sqlite_hooks *al_sqlite_hooks;

/* Used by the lines that are added; m is a Mem. */
#define AL_MET_TEXT(m, where)                                                                   \
    do {                                                                                        \
        if (al_sqlite_hooks && (m)->db)                                                         \
            al_sqlite_hooks->text((m)->db, (where), (m)->z ? (m)->z : "", (m)->z ? (m)->n : 0); \
    } while (0)

#define AL_OPERAND(m)                                                                      \
    (struct al_sqlite_operand)                                                             \
    {                                                                                      \
        .kind = (m)->flags & (MEM_Int | MEM_IntReal) ? 'i'                                 \
                : (m)->flags & MEM_Real              ? 'r'                                 \
                : (m)->flags & MEM_Str               ? 't'                                 \
                                                     : 'b',                                              \
        .z = (m)->z, .n = (m)->n, .i = (m)->u.i, .r = (m)->flags & MEM_Real ? (m)->u.r : 0 \
    }

#define AL_COMPARED(database, how, a, b)                                                            \
    do {                                                                                            \
        int al_texts = (((a)->flags & MEM_Str) != 0) + (((b)->flags & MEM_Str) != 0);               \
        if (al_sqlite_hooks && al_texts > 0 && (al_texts < 2 || (int)(how) > AL_SQLITE_EQ))         \
            al_sqlite_hooks->compared((database), (enum al_sqlite_comparison)(how), &AL_OPERAND(a), \
                                      &AL_OPERAND(b));                                              \
    } while (0)

#endif
