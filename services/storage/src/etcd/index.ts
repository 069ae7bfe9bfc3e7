/** The store on etcd, for any number of replicas. */

export type { EtcdAccess } from './client.ts'
export { type EtcdStore, type EtcdStoreOptions, openEtcdStore } from './etcd-store.ts'
export type { EtcdLeadership } from './leadership.ts'
