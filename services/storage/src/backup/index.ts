/** Backups of a store: a file with all keys at one revision. */

export { type Backup, openBackup } from './backup-file.ts'
export { type BackupResult, backupFolder, hasState, restoreFolder } from './folder.ts'
