export * from './print-event.ts'
export * from './shared-events.ts'
