/** Third-party programs that a distributed server needs, found and run on this machine. */

export { type BackendTls, type EtcdOptions, openEtcd } from './etcd.ts'
export { keepRunning } from './keep-running.ts'
export { type BackendName, type LocatedBackend, type LocateOptions, locateBackend } from './locate.ts'
export { type NatsOptions, openNats } from './nats.ts'
export { freePorts, type Program, ProgramPortError } from './program.ts'
