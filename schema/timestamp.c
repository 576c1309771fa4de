/* SPDX-License-Identifier: Apache-2.0
 * RFC 3339 text and milliseconds since 1970 UTC. No time zone data, no clock, no locale. Any
 * thread. */
#include "schema/timestamp.h"

#include "schema/text.h"

#include <string.h>

#define MS_PER_SECOND   1000
#define SECONDS_PER_DAY 86400
#define TIME_S_MAX      INT64_C(253402300799) /* 9999-12-31T23:59:59Z */

struct moment {
    int year, month, day, hour, minute, second, millisecond, offset_minutes;
};

/* Days since 1970-01-01 in the proleptic Gregorian calendar: years are counted from March, so that
 * the leap day is the last. */
static int64_t days_from_date(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = y / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
           719468;
}

static void date_from_days(int64_t days, struct moment *moment)
{
    int64_t shifted = days + 719468;
    int64_t era = shifted / 146097;
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t march_month = (5 * day_of_year + 2) / 153;

    moment->day = (int)(day_of_year - (153 * march_month + 2) / 5 + 1);
    moment->month = (int)(march_month < 10 ? march_month + 3 : march_month - 9);
    moment->year = (int)(year_of_era + era * 400 + (moment->month <= 2));
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

/* Takes exactly `n_digits` digits, then the character `after` (0: none). */
static bool field_take(const char **text, int n_digits, char after, int *out_value)
{
    int value = 0;

    for (int i = 0; i < n_digits; i++, (*text)++) {
        if (!g_ascii_isdigit(**text))
            return false;
        value = value * 10 + (**text - '0');
    }
    *out_value = value;
    if (after == '\0')
        return true;
    if (g_ascii_toupper(**text) != after)
        return false;
    (*text)++;
    return true;
}

static bool fraction_take(const char **text, int *out_ms)
{
    int place = 100;

    *out_ms = 0;
    if (**text != '.')
        return true;
    (*text)++;
    if (!g_ascii_isdigit(**text))
        return false;
    for (; g_ascii_isdigit(**text); (*text)++, place /= 10)
        *out_ms += (**text - '0') * place;
    return true;
}

static bool offset_take(const char **text, int *out_minutes)
{
    int sign = **text == '-' ? -1 : 1;
    int hours, minutes;

    *out_minutes = 0;
    if (g_ascii_toupper(**text) == 'Z') {
        (*text)++;
        return true;
    }
    if (**text != '+' && **text != '-')
        return false;
    (*text)++;
    if (!field_take(text, 2, ':', &hours) || !field_take(text, 2, '\0', &minutes) || hours > 23 ||
        minutes > 59)
        return false;
    *out_minutes = sign * (hours * 60 + minutes);
    return true;
}

static bool moment_take(const char *text, struct moment *moment)
{
    return field_take(&text, 4, '-', &moment->year) && field_take(&text, 2, '-', &moment->month) &&
           field_take(&text, 2, 'T', &moment->day) && field_take(&text, 2, ':', &moment->hour) &&
           field_take(&text, 2, ':', &moment->minute) &&
           field_take(&text, 2, '\0', &moment->second) &&
           fraction_take(&text, &moment->millisecond) &&
           offset_take(&text, &moment->offset_minutes) && *text == '\0';
}

/* Second 60 is a leap second; it reads as the first of the next minute, since UTC without leap
 * seconds has no other name for it. */
static bool moment_exists(const struct moment *moment)
{
    return moment->month >= 1 && moment->month <= 12 && moment->day >= 1 &&
           moment->day <= days_in_month(moment->year, moment->month) && moment->hour <= 23 &&
           moment->minute <= 59 && moment->second <= 60;
}

static bool refuse(const char *text, const char *what, GError **error)
{
    g_autofree char *excerpt = text_excerpt(text);

    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "\"%s\" %s", excerpt, what);
    return false;
}

bool timestamp_parse_ms(const char *text, int64_t *out_ms, GError **error)
{
    struct moment moment = {0};
    int64_t time_s;

    if (!moment_take(text, &moment))
        return refuse(text,
                      "is not a time of RFC 3339, such as 2026-11-30T23:17:45Z or "
                      "2026-12-01T00:17:45.123+01:00",
                      error);
    if (!moment_exists(&moment))
        return refuse(text, "names a day or time of day that does not exist", error);
    time_s = days_from_date(moment.year, moment.month, moment.day) * SECONDS_PER_DAY +
             (moment.hour * 60 + moment.minute - moment.offset_minutes) * 60 + moment.second;
    if (time_s < 0 || time_s > TIME_S_MAX)
        return refuse(text, "is not within the years 1970 to 9999 (UTC)", error);
    *out_ms = time_s * MS_PER_SECOND + moment.millisecond;
    return true;
}

static void format_seconds(int64_t time_s, char buffer[64])
{
    struct moment moment;
    int second_of_day = (int)(time_s % SECONDS_PER_DAY);

    date_from_days(time_s / SECONDS_PER_DAY, &moment);
    g_snprintf(buffer, 64, "%04d-%02d-%02dT%02d:%02d:%02d", moment.year, moment.month, moment.day,
               second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
}

char *timestamp_format_s(int64_t time_s)
{
    char buffer[64];

    format_seconds(CLAMP(time_s, 0, TIME_S_MAX), buffer);
    return g_strconcat(buffer, "Z", NULL);
}

char *timestamp_format_ms(int64_t time_ms)
{
    char buffer[64];
    int millisecond;

    time_ms = CLAMP(time_ms, 0, TIME_S_MAX * MS_PER_SECOND + 999);
    millisecond = (int)(time_ms % MS_PER_SECOND);
    format_seconds(time_ms / MS_PER_SECOND, buffer);
    return millisecond ? g_strdup_printf("%s.%03dZ", buffer, millisecond)
                       : g_strconcat(buffer, "Z", NULL);
}
