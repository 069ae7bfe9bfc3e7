/** The store on etcd, for any number of replicas. */

export { backupEtcd, restoreEtcd } from './backup.ts'
export type { EtcdAccess } from './client.ts'
export { type EtcdStore, type EtcdStoreOptions, openEtcdStore } from './etcd-store.ts'
export type { EtcdLeadership } from './leadership.ts'
