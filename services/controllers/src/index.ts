/** Ordinary clients that keep objects as they are meant to be. */
export * from './bootstrap.ts'
export * from './controller.ts'
export { garbageCollector } from './garbage-collector/garbage-collector.ts'
export * from './namespace-controller.ts'
export * from './workqueue.ts'
