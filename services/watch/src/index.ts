/** What happened: change events, filtered and encoded once for all who watch. */
export {}
