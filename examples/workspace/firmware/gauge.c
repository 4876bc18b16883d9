/* Reads the pressure gauge at the pier head and prints a height in millimetres. */
#include <stdint.h>
#include <stdio.h>

#define COUNTS_PER_METRE 5120

/* NOTE: the gauge counts down when the water rises */
static int32_t height_mm(uint32_t counts, uint32_t zero)
{
    return (int32_t)(((int64_t)zero - (int64_t)counts) * 1000 / COUNTS_PER_METRE);
}

int main(void)
{
    uint32_t counts;
    while (scanf("%u", &counts) == 1)
        printf("%d\n", height_mm(counts, 40960));
    return 0;
}
