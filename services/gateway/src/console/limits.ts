/** Limits of the console, each with the reason for its number. */
export const limits = {
  /** Time in which a link must be opened: a user clicks on it, or a program opens the browser. */
  ticketMs: 60_000,
  /** Maximum number of unused tickets of one user; the oldest is dropped. */
  ticketsPerUserMax: 8,
  /** Maximum number of unused tickets of all users; another is answered with 429. */
  ticketsMax: 128,
  /** Lifetime of a session: a working day. */
  sessionMs: 12 * 60 * 60 * 1000,
  /** Maximum number of sessions of one user; the oldest is dropped. A browser has one for all of its tabs. */
  sessionsPerUserMax: 16,
  /** Maximum number of sessions of all users; another is answered with 429. */
  sessionsMax: 128,
  /** Maximum number of cookies of one name that are tried, as pages at other ports of the same host may set some. */
  cookiesTriedMax: 4,
  /** Maximum number of cookies of one request that are read. */
  cookiesReadMax: 256,
  /** Maximum bytes of a body that the console parses itself: a ticket, or the watches of a page. */
  bodyBytesMax: 64 * 1024,
  /** Maximum number of watches of one stream. A page has one for each kind that it shows, and a server has a hundred kinds with their versions. */
  watchesPerStreamMax: 128,
  /** Maximum number of open streams of one session: one for each tab. */
  streamsPerSessionMax: 16,
  /** Maximum characters of one event; objects have at most some MB, and the rest of a longer one would be held until its end. */
  eventCharactersMax: 16 * 1024 * 1024,
  /** Unread bytes of one stream at which its watches wait. */
  streamBytesMax: 4 * 1024 * 1024,
} as const
