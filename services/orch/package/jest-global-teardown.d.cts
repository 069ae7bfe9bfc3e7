/** Stops the server of the global set-up. */
declare function teardown(): Promise<void>
export = teardown
