/* NIST's Statistical Reference Datasets: certified means and standard deviations, read from the heads of the
 * files. */
#include "test.h"

#include "dataset/stats_int.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX 20000

struct set {
    double values[VALUES_MAX];
    size_t n;
    double mean, stddev;
    double squares; /* of an analysis of variance: between and within the treatments */
};

static const char *corpus(void)
{
    const char *c = getenv("ALISIO_CORPUS");
    return c && *c ? c : AL_CORPUS;
}

static FILE *open_set(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/reference/%s/%s", corpus(), folder, name);
    FILE *f = fopen(path, "r");
    if (!f) {
        print_message("skipped: no %s\n", path);
        skip();
    }
    return f;
}

/* The last number of a line: files have one value in each, or a treatment before it. */
static bool last_number(const char *line, double *ret)
{
    bool any = false;
    while (*line) {
        char *end;
        double d = strtod(line, &end);
        if (end == line)
            return any && strspn(line, " \t\r\n") == strlen(line);
        *ret = d;
        any = true;
        line = end;
    }
    return any;
}

/* Data begin behind the line of dashes, or behind the head's 60 lines. */
static void read_set(FILE *f, bool dashes, struct set *s)
{
    char line[512];
    bool data = false;
    s->n = 0;
    s->squares = 0;
    for (unsigned n = 1; fgets(line, sizeof line, f); n++) {
        const char *colon = strrchr(line, ':') ? strrchr(line, ':') : strrchr(line, '=');
        if (!data && colon && (strstr(line, "Sample Mean") || strncmp(line, "mean ", 5) == 0))
            s->mean = strtod(colon + 1, NULL);
        if (!data && colon && (strstr(line, "Sample Standard Dev") || strncmp(line, "standardDev", 11) == 0))
            s->stddev = strtod(colon + 1, NULL);
        const char *point = strchr(line, '.'); /* of the first number with an exponent: "1.68…E+00" */
        if (!data && point > line && (strstr(line, "Between ") || strstr(line, "Within ")))
            s->squares += strtod(point - 1, NULL);
        double d;
        if (data && last_number(line, &d)) {
            assert_true(s->n < VALUES_MAX);
            s->values[s->n++] = d;
        }
        data |= dashes ? strncmp(line, "-----", 5) == 0 || strcmp(line, "# Data\n") == 0 : n == 60;
    }
    fclose(f);
    assert_true(s->n > 0);
}

static double digits(double got, double certified)
{
    double off = fabs(got - certified) / fabs(certified);
    return off == 0 ? 15 : fmin(15, -log10(off));
}

/* The worst of a group of sets: [0] over doubles, [1] over decimals. */
struct worst {
    double mean[2], stddev[2];
};
#define WORST_INIT \
    {              \
        {15, 15},  \
        {          \
            15, 15 \
        }          \
    }

static void tell(const char *group, const struct worst *w)
{
    for (int exact = 0; exact < 2; exact++)
        print_message("corpus: StRD, %s, over %s | mean %.1f digits, standard deviation %.1f\n", group,
                      exact ? "decimals" : "doubles", w->mean[exact], w->stddev[exact]);
}

static void check_set(const char *name, double mean_digits, double doubles, double decimals, struct worst *w)
{
    static struct set s;
    read_set(open_set("nist-strd-commons-math", name), true, &s);
    for (int exact = 0; exact < 2; exact++) {
        struct al_sums sums = {.inexact = !exact};
        for (size_t i = 0; i < s.n; i++)
            al_sums_add(&sums, s.values[i], 1);
        double mean, stddev;
        assert_true(al_sums_mean(&sums, &mean) && al_sums_stddev(&sums, &stddev));
        assert_int_equal(sums.inexact, !exact);
        double m = digits(mean, s.mean), d = digits(stddev, s.stddev);
        print_message("%s over %s: mean %.1f digits, standard deviation %.1f\n", name,
                      exact ? "decimals" : "doubles", m, d);
        w->mean[exact] = fmin(w->mean[exact], m);
        w->stddev[exact] = fmin(w->stddev[exact], d);
        assert_true(m >= mean_digits);
        assert_true(d >= (exact ? decimals : doubles));
    }
}

static void univariate_sets_agree_with_their_certified_values(void **state)
{
    (void)state;
    struct worst seven = WORST_INIT, third = WORST_INIT, fourth = WORST_INIT;
    check_set("Lew.txt", 14, 13, 14, &seven);
    check_set("Lottery.txt", 14, 13, 14, &seven);
    check_set("Mavro.txt", 14, 13, 14, &seven);
    check_set("Michelso.txt", 14, 13, 14, &seven);
    check_set("NumAcc1.txt", 14, 13, 14, &seven);
    check_set("NumAcc2.txt", 14, 13, 14, &seven);
    check_set("NumAcc3.txt", 14, 9, 14, &third);
    check_set("NumAcc4.txt", 14, 8, 14, &fourth);
    check_set("PiDigits.txt", 14, 13, 14, &seven);
    tell("the worst of seven sets", &seven);
    tell("NumAcc3", &third);
    tell("NumAcc4", &fourth);
}

/* The sets for the analysis of variance give sums of squares: their total is the variance over all. */
static void anova_sets_agree_in_their_total_variance(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double doubles, decimals; /* digits: values with 13 equal digits before those that differ keep two or
                                     three in a double */
    } sets[] = {
        {"SmLs01.dat", 13, 14}, {"SmLs02.dat", 13, 14}, {"SmLs04.dat", 8, 14},  {"SmLs05.dat", 8, 14},
        {"SmLs07.dat", 2, 14},  {"SmLs08.dat", 2, 14},  {"AtmWtAg.dat", 8, 13}, {"SiRstv.dat", 11, 13},
    };
    double worst = 15;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        static struct set s;
        read_set(open_set("nist-strd-scipy/nist_anova", sets[i].name), false, &s);
        double total = sqrt(s.squares / (double)(s.n - 1));
        for (int exact = 0; exact < 2; exact++) {
            struct al_sums sums = {.inexact = !exact};
            for (size_t k = 0; k < s.n; k++)
                al_sums_add(&sums, s.values[k], 1);
            double stddev;
            assert_true(al_sums_stddev(&sums, &stddev));
            print_message("%s over %s: standard deviation %.1f digits\n", sets[i].name,
                          exact ? "decimals" : "doubles", digits(stddev, total));
            assert_true(digits(stddev, total) >= (exact ? sets[i].decimals : sets[i].doubles));
            if (exact)
                worst = fmin(worst, digits(stddev, total));
        }
    }
    print_message("corpus: StRD, analysis of variance, over decimals | standard deviation %.1f digits\n",
                  worst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(univariate_sets_agree_with_their_certified_values),
        cmocka_unit_test(anova_sets_agree_in_their_total_variance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
