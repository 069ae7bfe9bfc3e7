import { relative } from 'node:path'
import { clusterMode } from '@orch/testkit'
import { beforeEach } from 'vitest'
import { skippedInDistributed } from './skipped.ts'

interface Named {
  readonly name: string
  readonly suite?: Named | undefined
}

/** Titles from the outermost group inwards. */
function titleOf({ name, suite }: Named): string {
  return suite === undefined || suite.name === '' ? name : `${titleOf(suite)} > ${name}`
}

if (clusterMode() === 'distributed') {
  beforeEach(({ task, skip }) => {
    const file = relative(process.cwd(), task.file.filepath)
    const title = titleOf(task)
    const found = skippedInDistributed.find((one) => one.file === file && (title === one.title || title.startsWith(`${one.title} > `)))
    if (found !== undefined) skip(found.reason)
  })
}
