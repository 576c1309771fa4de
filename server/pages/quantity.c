/* SPDX-License-Identifier: Apache-2.0
 * Scaling by tables: a unit that is known moves through its row, any other takes decimal prefixes.
 */
#include "server/pages/quantity.h"

#include <math.h>
#include <string.h>

#define SIGNIFICANT_DIGITS 4
#define RATIO_DIGITS_MAX   1e6 /* beyond it a ratio is written with an exponent */

struct time_unit {
    const char *name;
    double ns;
};
static const struct time_unit time_units[] = {
    {"ns", 1}, {"µs", 1e3}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
static const struct time_unit time_scales[] = {{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}};

struct prefix {
    const char *name;
    double factor;
};
static const struct prefix prefixes[] = {{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}};

/* `per` is what follows the time: "/op", or "". */
static struct quantity_scale time_scale(double unit_ns, const char *per, double magnitude)
{
    struct quantity_scale scale = {.divisor = 1 / unit_ns};
    const struct time_unit *chosen = &time_scales[G_N_ELEMENTS(time_scales) - 1];
    for (size_t i = 0; i < G_N_ELEMENTS(time_scales); i++) {
        if (magnitude * unit_ns >= time_scales[i].ns) {
            chosen = &time_scales[i];
            break;
        }
    }
    scale.divisor = chosen->ns / unit_ns;
    g_snprintf(scale.label, sizeof scale.label, "%s%s", chosen->name, per);
    return scale;
}

/* True where the unit is `name`, or that per something: *out_per is then "/op", or "". */
static gboolean is_of(const char *unit, const char *name, const char **out_per)
{
    size_t length = strlen(name);
    *out_per = unit + MIN(length, strlen(unit));
    return strncmp(unit, name, length) == 0 && (**out_per == '\0' || **out_per == '/');
}

static struct quantity_scale prefix_scale(const char *unit, double magnitude)
{
    struct quantity_scale scale = {.divisor = 1};
    const char *name = "", *per;
    for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++) {
        if (magnitude >= prefixes[i].factor && strcmp(unit, "%") != 0) {
            scale.divisor = prefixes[i].factor;
            name = prefixes[i].name;
            break;
        }
    }
    if (is_of(unit, "B", &per) || is_of(unit, "bytes", &per))
        g_snprintf(scale.label, sizeof scale.label, "%sB%s", name, per);
    else
        g_snprintf(scale.label, sizeof scale.label, "%s%s%s", name, *name && *unit ? " " : "",
                   unit);
    return scale;
}

struct quantity_scale quantity_scale_for(const char *unit, double magnitude)
{
    magnitude = isfinite(magnitude) ? fabs(magnitude) : 0;
    unit = unit ? unit : "";
    for (size_t i = 0; i < G_N_ELEMENTS(time_units); i++) {
        const char *per;
        if (is_of(unit, time_units[i].name, &per))
            return time_scale(time_units[i].ns, per, magnitude);
    }
    return prefix_scale(unit, magnitude);
}

static int decimals_for(double value)
{
    if (value == 0)
        return 0;
    double exponent = floor(log10(fabs(value)));
    return (int)CLAMP(SIGNIFICANT_DIGITS - 1 - exponent, 0, 6);
}

void quantity_format(double value, const struct quantity_scale *scale,
                     char out[QUANTITY_TEXT_BYTES])
{
    double shown = value / scale->divisor;
    double size = fabs(shown);
    char format[16] = "%.3g", number[G_ASCII_DTOSTR_BUF_SIZE];
    if (size == 0 || (size < 1e9 && size >= 1e-5))
        g_snprintf(format, sizeof format, "%%.%df", decimals_for(shown));
    g_ascii_formatd(number, sizeof number, format, size);
    g_snprintf(out, QUANTITY_TEXT_BYTES, "%s%s", shown < 0 ? "−" : "", number);
}

char *quantity_text(double value, const char *unit)
{
    struct quantity_scale scale = quantity_scale_for(unit, value);
    char number[QUANTITY_TEXT_BYTES];
    quantity_format(value, &scale, number);
    return g_strdup_printf("%s%s%s", number, *scale.label ? " " : "", scale.label);
}

void quantity_count(uint64_t count, char out[QUANTITY_TEXT_BYTES])
{
    char digits[24];
    int n_digits = g_snprintf(digits, sizeof digits, "%" G_GUINT64_FORMAT, (guint64)count);
    size_t at = 0;
    for (int i = 0; i < n_digits; i++) {
        if (i > 0 && (n_digits - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
}

void quantity_ratio(double ratio, char out[QUANTITY_TEXT_BYTES])
{
    if (!isfinite(ratio)) {
        g_strlcpy(out, "–", QUANTITY_TEXT_BYTES);
        return;
    }
    if (ratio >= 9) {
        char factor[G_ASCII_DTOSTR_BUF_SIZE];
        g_ascii_formatd(factor, sizeof factor, ratio < RATIO_DIGITS_MAX ? "%.1f" : "%.3g",
                        ratio + 1);
        g_snprintf(out, QUANTITY_TEXT_BYTES, "×%s", factor);
        return;
    }
    double percent = fabs(ratio) * 100;
    const char *sign = ratio < 0 ? "−" : "+";
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(number, sizeof number,
                    percent >= RATIO_DIGITS_MAX ? "%.3g"
                    : percent >= 100            ? "%.0f"
                    : percent >= 0.095          ? "%.1f"
                                                : "%.2f",
                    percent);
    if (percent < 0.005)
        g_strlcpy(out, "0 %", QUANTITY_TEXT_BYTES);
    else
        g_snprintf(out, QUANTITY_TEXT_BYTES, "%s%s %%", sign, number);
}

void quantity_tick(double shown, int decimals, char out[QUANTITY_TEXT_BYTES])
{
    char format[16] = "%.6g", number[G_ASCII_DTOSTR_BUF_SIZE];
    if (decimals >= 0)
        g_snprintf(format, sizeof format, "%%.%df", MIN(decimals, 9));
    g_ascii_formatd(number, sizeof number, format, fabs(shown));
    g_snprintf(out, QUANTITY_TEXT_BYTES, "%s%s", shown < 0 ? "−" : "", number);
}

double quantity_step(double low, double high, unsigned ticks_max)
{
    static const double nice[] = {1, 2, 5, 10};
    ticks_max = CLAMP(ticks_max, 2, 20);
    double span = high - low;
    if (!(span > 0) || !isfinite(span))
        return 1;
    double rough = span / (ticks_max - 1);
    double decade = pow(10, floor(log10(rough)));
    for (size_t i = 0; i < G_N_ELEMENTS(nice); i++) {
        if (nice[i] * decade >= rough * (1 - 1e-9))
            return nice[i] * decade;
    }
    return 10 * decade;
}
