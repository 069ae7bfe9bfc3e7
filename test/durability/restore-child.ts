/**
 * A process that restores a folder. The test kills it at a given moment.
 *
 *   node restore-child.ts <directory> <backup> <moment>
 *
 * Moments: `fill` is between two objects, `rename-1` and so on before that file is put in place, `done` after the last one.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { openBackup, restoreFolder } from '../../services/storage/src/backup/index.ts'

const [directory = '', path = '', moment = ''] = process.argv.slice(2)
const passes = (name: string) => {
  if (name === moment) process.kill(process.pid, 'SIGKILL')
}

const { renameSync } = fs
let renames = 0
fs.renameSync = (from, to) => {
  // A store that closes replaces its mark.
  if (!String(from).endsWith('.new')) passes(`rename-${++renames}`)
  renameSync(from, to)
}
syncBuiltinESMExports()

const backup = openBackup(path)
await restoreFolder(directory, {
  ...backup,
  *read() {
    for (const record of backup.read()) {
      yield record
      passes('fill')
    }
  },
})
passes('done')
