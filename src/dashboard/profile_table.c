/* What kind of table it is: people, designs of trials, years side by side. Each tells of its columns what
 * their names do not. */
#include "dashboard/profile_int.h"

#include "base/text.h"

#define DESIGN_ROWS 12   /* a design of fewer rows may be chance */
#define DESIGN_TIMES 4   /* each of its values at least so often */
#define DESIGN_GROUPS 30 /* values that may be groups; more are numbers of things */
#define WIDE 3           /* columns of years that make a table wide */
#define FEW_LEVELS 12

static struct al_dash_column *column(const struct al_profiler *p, size_t i)
{
    return &p->c->columns[i];
}

static bool word_in(const char *const *list, struct al_str word)
{
    for (; *list; list++)
        if (al_str_is(word, *list))
            return true;
    return false;
}

/* --- people: a row is a person --- */

static const char *const who[] = {"sex",       "gender", "genero",  "sexo",    "race",      "raza",
                                  "ethnicity", "etnia",  "married", "marital", "education", "educ",
                                  "female",    "smoker", "meno",    NULL};
/* What one person has; nobody asks for the sum. */
static const char *const owned[] = {"visit", "visits",   "visitas",  "node",       "nodes",        "kid",
                                    "kids",  "child",    "children", "sib",        "siblings",     "hijo",
                                    "hijos", "hijas",    "hermanos", "dependents", "dependientes", "job",
                                    "jobs",  "empleos",  "income",   "incomes",    "earning",      "earnings",
                                    "wages", "salaries", "ingresos", "sueldos",    "salarios",     NULL};

static bool is_age(const struct al_profiler *p, size_t i)
{
    const struct al_dash_column *c = column(p, i);
    const struct al_name_traits *t = &p->traits[i];
    return (al_str_is(t->head_word, "age") || al_str_is(t->head_word, "edad")) && c->has_range &&
           c->min >= 0 && c->max <= 130 && (c->role == AL_ROLE_MEASURE || c->role == AL_ROLE_DIMENSION);
}

static bool of_people(const struct al_profiler *p)
{
    bool age = false, more = false;
    for (size_t i = 0; i < p->c->n; i++) {
        age |= is_age(p, i);
        more |= word_in(who, p->traits[i].head_word) && column(p, i)->role != AL_ROLE_NONE;
    }
    return age && more;
}

static void read_people(struct al_profiler *p)
{
    if (!of_people(p))
        return;
    for (size_t i = 0; i < p->c->n; i++) {
        struct al_dash_column *c = column(p, i);
        const struct al_name_traits *t = &p->traits[i];
        bool level = t->all & (AL_CLASS(LEVEL) | AL_CLASS(LEVEL_RATE));
        bool unknown = !t->all && c->integers; /* "nodes", "puffs" */
        if (c->role == AL_ROLE_MEASURE && c->adds != AL_ADDS_NEVER &&
            (level || unknown || word_in(owned, t->head_word)))
            c->adds = AL_ADDS_NEVER;
    }
}

/* --- designs: each value of a factor as often as every other --- */

static bool is_balanced(const struct al_profiler *p, const struct al_dash_column *c)
{
    size_t n = c->n_top;
    if (!c->distinct_exact || c->distinct < 2 || n < 2 || (n < 5 && n != c->distinct) ||
        c->top_count[0] < DESIGN_TIMES || al_column_filled(&p->x, c) < DESIGN_ROWS)
        return false;
    for (size_t i = 1; i < n; i++)
        if (c->top_count[i] != c->top_count[0])
            return false;
    return c->top_count[0] * c->distinct == al_column_filled(&p->x, c);
}

/* A text or a time with as many values, as evenly: what is measured of each of its things is no factor. */
static bool has_thing(const struct al_profiler *p, const struct al_dash_column *c)
{
    for (size_t i = 0; i < p->c->n; i++) {
        const struct al_dash_column *thing = column(p, i);
        bool other = !thing->has_range || thing->role == AL_ROLE_TIME || p->traits[i].head & AL_CLASS(YEAR);
        if (thing != c && other && thing->distinct == c->distinct && is_balanced(p, thing))
            return true;
    }
    return false;
}

static bool is_amount(const struct al_name_traits *t)
{
    return t->strict || t->flow || t->counts ||
           t->all & (AL_CLASS(MONEY) | AL_CLASS(FLOW) | AL_CLASS(LEVEL) | AL_CLASS(RATE) | AL_CLASS(TOTAL));
}

static void read_design(struct al_profiler *p)
{
    for (size_t i = 0; i < p->c->n; i++) {
        struct al_dash_column *c = column(p, i);
        if (c->role != AL_ROLE_MEASURE || is_amount(&p->traits[i]) || !is_balanced(p, c) || has_thing(p, c))
            continue;
        if (c->distinct <= DESIGN_GROUPS) {
            c->role = AL_ROLE_DIMENSION;
            c->natural = AL_NATURAL_NUMBER;
        } else if (c->integers) {
            c->role = AL_ROLE_IDENTIFIER;
        }
    }
}

/* N, P and K are what the soil got. */
static void read_fertilizer(struct al_profiler *p)
{
    static const char *const names[] = {"n", "p", "k"};
    struct al_dash_column *found[3] = {NULL, NULL, NULL};
    for (size_t i = 0; i < p->c->n; i++)
        for (size_t k = 0; k < 3; k++)
            if (p->traits[i].n == 1 && al_str_is(p->traits[i].head_word, names[k]) && column(p, i)->has_range)
                found[k] = column(p, i);
    for (size_t k = 0; k < 3 && found[0] && found[1] && found[2]; k++) {
        if (found[k]->role != AL_ROLE_MEASURE)
            continue;
        found[k]->adds = AL_ADDS_NEVER;
        if (found[k]->integers && found[k]->distinct <= FEW_LEVELS) {
            found[k]->role = AL_ROLE_DIMENSION;
            found[k]->natural = AL_NATURAL_NUMBER;
        }
    }
}

/* --- columns of one name and different numbers are of one kind --- */

/* Are the names the same but for their digits, of which both have some? */
static bool are_siblings(struct al_str a, struct al_str b)
{
    size_t i = 0, k = 0;
    bool digits = false, letters = false;
    for (;;) {
        size_t from_i = i, from_k = k;
        while (i < a.n && a.p[i] >= '0' && a.p[i] <= '9')
            i++;
        while (k < b.n && b.p[k] >= '0' && b.p[k] <= '9')
            k++;
        if ((i > from_i) != (k > from_k))
            return false;
        digits |= i > from_i;
        if (i == a.n || k == b.n)
            return i == a.n && k == b.n && digits && letters;
        if (a.p[i++] != b.p[k++])
            return false;
        letters = true;
    }
}

static void read_siblings(struct al_profiler *p)
{
    for (size_t i = 0; i < p->c->n; i++) {
        struct al_dash_column *c = column(p, i);
        if (c->role != AL_ROLE_DIMENSION || c->natural != AL_NATURAL_NUMBER || is_balanced(p, c) ||
            p->traits[i].all & (AL_CLASS(DIMENSION) | AL_CLASS(STEP) | AL_CLASS(YEAR) | AL_CLASS(CODE)))
            continue;
        for (size_t k = 0; k < p->c->n && c->role == AL_ROLE_DIMENSION; k++)
            if (column(p, k)->role == AL_ROLE_MEASURE && are_siblings(c->name, column(p, k)->name)) {
                c->role = AL_ROLE_MEASURE;
                c->natural = AL_NATURAL_NONE;
                c->adds = AL_ADDS_NEVER;
            }
    }
}

/* "PARAMN" beside "PARAM": the same things as numbers. */
static void read_numbered(struct al_profiler *p)
{
    for (size_t i = 0; i < p->c->n; i++) {
        struct al_dash_column *c = column(p, i);
        if (c->role != AL_ROLE_MEASURE || !c->integers || c->name.n < 4 ||
            (c->name.p[c->name.n - 1] | 32) != 'n')
            continue;
        for (size_t k = 0; k < p->c->n; k++)
            if (al_str_is(column(p, k)->type, "text") &&
                al_str_eq(column(p, k)->name, (struct al_str){c->name.p, c->name.n - 1}))
                c->role = AL_ROLE_IDENTIFIER;
    }
}

/* --- sums of one thing's parts --- */

/* "sat_sum" beside "sat_v", "sat_m", which are averaged: the sum of a pupil's marks is a mark. */
static void read_sums(struct al_profiler *p)
{
    for (size_t i = 0; i < p->c->n; i++) {
        struct al_dash_column *c = column(p, i);
        struct al_str stem = c->name;
        size_t rates = 0, sums = 0;
        if (c->role != AL_ROLE_MEASURE || c->adds != AL_ADDS_ALWAYS ||
            !(p->traits[i].all & AL_CLASS(TOTAL)) || p->traits[i].all & (AL_CLASS(MONEY) | AL_CLASS(FLOW)))
            continue;
        if (al_str_is(c->name, "sum") || al_str_is(c->name, "suma"))
            stem.n = 0; /* of all of them */
        const char *end = stem.n ? memchr(stem.p, '_', stem.n) : stem.p;
        if (!end || (stem.n && end == stem.p))
            continue;
        stem.n = stem.n ? (size_t)(end - stem.p) + 1 : 0;
        for (size_t k = 0; k < p->c->n; k++)
            if (k != i && column(p, k)->role == AL_ROLE_MEASURE && column(p, k)->name.n > stem.n &&
                memcmp(column(p, k)->name.p, stem.p, stem.n) == 0)
                *(column(p, k)->adds == AL_ADDS_NEVER ? &rates : &sums) += 1;
        if (rates >= 2 && !sums)
            c->adds = AL_ADDS_NEVER;
    }
}

/* A tax alone is a rate as often as an amount; beside sales it is an amount. */
static void read_taxes(struct al_profiler *p)
{
    static const char *const taxes[] = {"tax", "taxes", "taxs", "impuesto", "impuestos", "iva", "vat", NULL};
    bool money = false;
    for (size_t i = 0; i < p->c->n; i++)
        money |= column(p, i)->role == AL_ROLE_MEASURE && column(p, i)->adds == AL_ADDS_ALWAYS &&
                 p->traits[i].all & AL_CLASS(MONEY) && !word_in(taxes, p->traits[i].head_word);
    for (size_t i = 0; i < p->c->n && !money; i++)
        if (p->traits[i].n == 1 && word_in(taxes, p->traits[i].head_word) &&
            column(p, i)->role == AL_ROLE_MEASURE)
            column(p, i)->adds = AL_ADDS_NEVER;
}

/* Levels need places to add up over, and a last period to be of: a table without names, or with periods that
 * are no axis ("year": 63 to 92), has their mean. */
static void read_levels(struct al_profiler *p)
{
    bool clock = false, names = false, periods = false;
    for (size_t i = 0; i < p->c->n; i++) {
        const struct al_dash_column *c = column(p, i);
        clock |= c->role == AL_ROLE_TIME;
        names |= c->role == AL_ROLE_DIMENSION || c->role == AL_ROLE_TEXT ||
                 (c->role == AL_ROLE_IDENTIFIER && c->distinct * 2 < p->x.rows);
        periods |= c->role == AL_ROLE_DIMENSION && c->has_range && p->traits[i].head & AL_CLASS(YEAR);
    }
    for (size_t i = 0; i < p->c->n && !clock && (!names || periods); i++)
        if (column(p, i)->role == AL_ROLE_MEASURE && column(p, i)->adds == AL_ADDS_ACROSS &&
            !p->traits[i].wide)
            column(p, i)->adds = AL_ADDS_NEVER;
}

/* --- years side by side: "POP1992", "POP1993", "year_1960" --- */

/* The year behind the last letters; 0: none. */
static int wide_year(struct al_str name, struct al_str *ret_stem)
{
    int64_t year = 0;
    if (name.n < 4 || (name.n > 4 && name.p[name.n - 5] >= '0' && name.p[name.n - 5] <= '9'))
        return 0;
    *ret_stem = (struct al_str){name.p, name.n - 4};
    return al_parse_int((struct al_str){name.p + name.n - 4, 4}, 1700, 2100, &year) ? (int)year : 0;
}

static bool only_year(struct al_str stem)
{
    static const char *const names[] = {"",   "y",  "x",   "yr",    "year", "ano",   "anio",
                                        "y_", "x_", "yr_", "year_", "ano_", "anio_", NULL};
    autobuf struct al_buf folded = AL_BUF_INIT(256);
    if (stem.n > 8)
        return false;
    al_fold(&folded, stem);
    return word_in(names, al_buf_str(&folded));
}

/* Only the first and the last year of each row of years are figures; the last one leads. */
static void read_wide(struct al_profiler *p)
{
    for (size_t i = 0; i < p->c->n; i++) {
        struct al_str stem, other;
        struct al_dash_column *c = column(p, i);
        int year = wide_year(c->name, &stem), first = year, last = year;
        size_t n = 0;
        for (size_t k = 0; year && k < p->c->n; k++) {
            int y = column(p, k)->role == AL_ROLE_MEASURE ? wide_year(column(p, k)->name, &other) : 0;
            if (!y || !al_str_eq(stem, other))
                continue;
            n++;
            first = y < first ? y : first;
            last = y > last ? y : last;
        }
        if (n < WIDE || c->role != AL_ROLE_MEASURE)
            continue;
        p->traits[i].wide = year == last ? AL_WIDE_LAST : year == first ? AL_WIDE_FIRST : AL_WIDE_BETWEEN;
        if (only_year(stem) && p->x.source & (AL_CLASS(LEVEL) | AL_CLASS(MONEY) | AL_CLASS(FLOW)))
            c->adds = p->x.source & AL_CLASS(LEVEL) ? AL_ADDS_ACROSS : AL_ADDS_ALWAYS;
    }
}

/* --- two columns of the same groups --- */

static bool is_short_for(const struct al_dash_column *a, const struct al_dash_column *b)
{
    size_t n = 0;
    while (n < a->name.n && n < b->name.n && a->name.p[n] == b->name.p[n])
        n++;
    return n >= 4 && (n == a->name.n || n == b->name.n);
}

static bool named_code(const struct al_name_traits *t)
{
    static const char *const words[] = {"abb", "abbr", "abbreviation", "short", "cd", "code", "id", NULL};
    return t->all & (AL_CLASS(CODE) | AL_CLASS(ID)) || word_in(words, t->head_word);
}

/* Countries and their codes: one of them is enough. Where all values are equally frequent the names have to
 * say so. */
static bool same_groups(const struct al_dash_column *a, const struct al_dash_column *b, bool code)
{
    bool even = true;
    if (a->distinct != b->distinct || a->nulls != b->nulls || a->n_top != b->n_top || a->distinct < 3 ||
        !a->n_top)
        return false;
    for (size_t t = 0; t < a->n_top; t++) {
        if (a->top_count[t] != b->top_count[t])
            return false;
        even &= a->top_count[t] == a->top_count[0];
    }
    return (!even && a->n_top >= 3) || code || is_short_for(a, b);
}

/* The same groups as a column that has names for its codes, longer names, or comes first. */
bool al_profile_is_twin(const struct al_profiler *p, size_t i)
{
    const struct al_dash_column *a = column(p, i);
    bool own = named_code(&p->traits[i]);
    for (size_t k = 0; k < p->c->n; k++) {
        const struct al_dash_column *b = column(p, k);
        bool code = own && !named_code(&p->traits[k]), other = !own && named_code(&p->traits[k]);
        if (k == i || other || b->role != AL_ROLE_DIMENSION || !same_groups(a, b, code))
            continue;
        bool number = a->has_range && !b->has_range, name = !a->has_range && b->has_range;
        bool longer = b->max_length > 2 * a->max_length, shorter = a->max_length > 2 * b->max_length;
        if (code || number || (!name && (longer || (!shorter && k < i))))
            return true;
    }
    return false;
}

void al_profile_table(struct al_profiler *p)
{
    read_people(p);
    read_fertilizer(p);
    read_design(p);
    read_siblings(p);
    read_numbered(p);
    read_sums(p);
    read_taxes(p);
    read_wide(p);
    read_levels(p);
}
