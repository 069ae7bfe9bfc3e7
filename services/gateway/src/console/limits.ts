/** Bounds of the console, each with the reason for its number. */
export const limits = {
  /** Time in which a link has to be opened: a person clicks on it, or a program opens the browser. */
  ticketMs: 60_000,
  /** Tickets that wait to be opened, of one user; the oldest gives way to the next. */
  ticketsPerUserMax: 8,
  /** The same, of all users; one more is answered 429. */
  ticketsMax: 128,
  /** Time after which a session ends: a working day. */
  sessionMs: 12 * 60 * 60 * 1000,
  /** Sessions of one user; the oldest gives way to the next. A browser has one for all of its tabs. */
  sessionsPerUserMax: 16,
  /** Sessions of all users; one more is answered 429. */
  sessionsMax: 128,
  /** Cookies of one name that are tried: pages at other ports of the same host may set some. */
  cookiesTriedMax: 4,
  /** Cookies of one request that are looked at. */
  cookiesReadMax: 256,
  /** Bytes of a body that the console reads itself: a ticket, or the watches of a page. */
  bodyBytesMax: 64 * 1024,
  /** Watches of one stream. A page has one for each kind that it shows, and a server has a hundred kinds with their versions. */
  watchesPerStreamMax: 128,
  /** Open streams of one session: one for each tab. */
  streamsPerSessionMax: 16,
  /** Unread bytes of one stream, from which on its watches wait. */
  streamBytesMax: 4 * 1024 * 1024,
} as const
