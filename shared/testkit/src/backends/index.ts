/** Third-party programs that tests run. */

export { type BackendTls, openEtcd, openNats, type Program } from '@orch/platform/backends'
export { findBackend } from './backends.ts'
export { openEtcdMembers } from './etcd-members.ts'
