/** What touches the world: settings, logs, lifecycle, certificates, metrics, rpc. */
export * from './clock.ts'
export * from './lifecycle.ts'
export * from './log.ts'
export * from './metrics.ts'
export * from './rpc/push-stream.ts'
export * from './settings/index.ts'
export * from './tls/index.ts'
export * from './timer-wheel.ts'
