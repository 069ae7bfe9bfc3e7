/** The composition root: every service in one process, the commands, and start() for tests. */
export {}
