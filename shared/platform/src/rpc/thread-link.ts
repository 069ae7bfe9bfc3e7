/** Contracts between the threads of a process, over a port: messages in the form of gRPC's, whose bytes change hands. */

export type { Offer } from './serve.ts'
export { serveThread } from './thread-callee.ts'
export { dialThread } from './thread-caller.ts'
