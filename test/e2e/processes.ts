import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { findProgram } from '../programs.ts'

/** A running process of this machine. */
export interface Process {
  readonly pid: number
  readonly parent: number
  /** The command line with its arguments. */
  readonly command: string
}

const isThereProc = existsSync('/proc/self/stat')

/** The suffix of a test's title when the machine has no list of processes and the test is skipped. */
export const withoutProcesses = isThereProc || findProgram('ps') !== undefined ? '' : ' [skipped: neither /proc nor ps tells the processes]'

/** All running processes of this machine, without zombies. */
export function processes(): Process[] {
  return isThereProc ? readdirSync('/proc').flatMap(fromProc) : fromPs()
}

function fromProc(name: string): Process[] {
  if (!/^\d+$/.test(name)) return []
  try {
    // `pid (name) state parent …`; the name may contain any character.
    const [state, parent] = readFileSync(`/proc/${name}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent), command }]
  } catch {
    return [] // The process has ended meanwhile.
  }
}

function fromPs(): Process[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return pid === undefined || command.includes('<defunct>') ? [] : [{ pid: Number(pid), parent: Number(parent), command }]
  })
}
