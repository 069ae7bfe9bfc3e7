/** events */

export * from './print-event.ts'
