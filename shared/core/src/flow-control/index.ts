/** flow-control */

export * from './mandatory.ts'
