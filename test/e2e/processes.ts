import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { findProgram } from '../programs.ts'

/** A process of this machine that has not ended. */
export interface Process {
  readonly pid: number
  readonly parent: number
  /** With its arguments. */
  readonly command: string
}

const isThereProc = existsSync('/proc/self/stat')

/** The end of the title of a test that is skipped without a list of processes. */
export const withoutProcesses = isThereProc || findProgram('ps') !== undefined ? '' : ' [skipped: neither /proc nor ps tells the processes]'

/** All processes of this machine. One that has ended, and whose parent has not asked how, is none. */
export function processes(): Process[] {
  return isThereProc ? readdirSync('/proc').flatMap(fromProc) : fromPs()
}

function fromProc(name: string): Process[] {
  if (!/^\d+$/.test(name)) return []
  try {
    // `pid (name) state parent …`, and the name may hold anything.
    const [state, parent] = readFileSync(`/proc/${name}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent), command }]
  } catch {
    return [] // it has ended meanwhile
  }
}

function fromPs(): Process[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return pid === undefined || command.includes('<defunct>') ? [] : [{ pid: Number(pid), parent: Number(parent), command }]
  })
}
