/** What tests share: clusters, builders, fake clock, contract suites. */
export * from './fake-clock.ts'
export * from './tiny-storage.ts'
export { storeSuite } from './store-suite.ts'
