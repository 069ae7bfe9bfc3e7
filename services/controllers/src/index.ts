/** Ordinary clients that keep objects as they are meant to be. */
export * from './bootstrap.ts'
export * from './controller.ts'
export { garbageCollector } from './garbage-collector/garbage-collector.ts'
export * from './leader-election.ts'
export * from './namespace-controller.ts'
export { aggregationController } from './roles/aggregation.ts'
export { bootstrapRoles } from './roles/bootstrap-policy.ts'
export * from './workqueue.ts'
