// Times are milliseconds in the database and text in responses.

/** A time that may be absent. */
export const time = (millis) => (millis === null ? null : new Date(Number(millis)).toISOString())
