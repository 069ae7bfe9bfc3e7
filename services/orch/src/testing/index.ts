/** What the entries of the package for test frameworks are made of. */
export { type GlobalTeardown, startGlobalServer } from './global-server.ts'
export { createServerHook, type TestHooks } from './use-server.ts'
