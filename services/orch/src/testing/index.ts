/** The package's entries for test frameworks. */
export { leaveTrace } from './failed-test.ts'
export { type GlobalTeardown, startGlobalServer } from './global-server.ts'
export { matchers } from './matchers.ts'
export { createForkHook, type InFork, type Prepare } from './use-forks.ts'
export { createServerHook, type TestHooks } from './use-server.ts'
