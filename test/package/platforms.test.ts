import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** Files and calls that exist only on Linux or have other places on other systems. */
const linuxAlone = [
  // Files of the Linux kernel.
  /['"`]\/(?:proc|sys)\//,
  // Names of sockets in the abstract space.
  /listen\([^)]*\\0|['"`]\\0\w|unix-abstract/,
  // Programs of util-linux.
  /\bsetpriv\b|\bflock\b|\bprlimit\b/,
  // macOS has a single address of the loopback network.
  /\b127\.0\.0\.[2-9]/,
  // Neither BusyBox nor POSIX has this flag.
  /env -S/,
]

/** Files that check whether such a file or call exists before they use it. */
const guarded: Readonly<Record<string, string>> = {
  'services/gateway/src/listener/shared-port.ts': 'threadsHere gives one thread, which shares no port, where canSharePorts is false',
  'services/storage/src/kms/kms-plugin.ts': 'the user names the socket',
  'shared/platform/src/backends/program.ts': 'setpriv is used where the file exists',
  'services/orch/src/main.ts': 'run.mjs and the package run it by a Node that they name',
}

/** The code of the package and the services. */
function productFiles(): string[] {
  const packages = ['shared', 'services'].flatMap((group) => readdirSync(join(root, group)).map((name) => posix.join(group, name)))
  const folders = [...packages.map((folder) => `${folder}/src`), 'services/orch/package']
  return folders
    .filter((folder) => !folder.includes('testkit'))
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => posix.join(folder, file)))
    .filter((file) => /\.(?:ts|js|cjs)$/.test(file) && !file.endsWith('.test.ts'))
}

test('system calls that exist only on Linux are used after a check, and in no other place', () => {
  const files = productFiles()
  expect(files.length).toBeGreaterThan(500)
  const using = files.filter((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    return linuxAlone.some((pattern) => pattern.test(text))
  })
  expect(using.sort()).toEqual(Object.keys(guarded).sort())
})

test.each(['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'])('lmdb has a binary for %s in the lockfile', (platform) => {
  const lockfile = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')
  expect(lockfile).toMatch(new RegExp(`^ {2}'@lmdb/lmdb-${platform}@\\d+\\.\\d+\\.\\d+':$`, 'm'))
})
