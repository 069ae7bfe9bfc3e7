/** What tests share: clusters, builders, fake clock, contract suites. */

export * from './admission-suite.ts'
export * from './any-object.ts'
export * from './builders.ts'
export * from './cluster.ts'
export * from './contract-link.ts'
export * from './fake-change-stream.ts'
export * from './fake-clock.ts'
export * from './progress.ts'
export * from './storage-suite.ts'
export { storeSuite } from './store-suite.ts'
export * from './tiny-storage.ts'
export * from './watch-suite.ts'
