/** The storage service: the state, its revisions and its changes. */

export { type Leadership, soleLeadership } from './leadership.ts'
export { createStorage, type StateSnapshot, type Storage, type StorageOptions, storeOf } from './service.ts'
export type { Reencode } from './state.ts'
export { DamagedStoreError, storeFiles } from './store/data-folder.ts'
export { type DirectoryLock, type DirectoryOwner, directoryOwner, lockDirectory } from './store/directory-lock.ts'
export { type LmdbStoreOptions, openLmdbStore } from './store/lmdb-store.ts'
export type { StoreEnvironment } from './store/log-store.ts'
export { createMemoryStore, type MemoryStoreOptions } from './store/memory-store.ts'
export { observeStore, type StoreObservation } from './store/observed-store.ts'
export { parseStore, printStore } from './store/snapshot-bytes.ts'
