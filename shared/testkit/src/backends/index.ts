/** Programs of others that tests run on. */

export { type BackendTls, openEtcd, openNats, type Program } from '@orch/platform/backends'
export { findBackend } from './backends.ts'
export { openEtcdMembers } from './etcd-members.ts'
