import { expect, test } from 'vitest'
import { kubeApiServer } from './kube-apiserver.ts'
import { apiServerSettings } from './settings.ts'
import { readApiServerWords } from './words.ts'

const read = (...words: string[]) => readApiServerWords(apiServerSettings, words)

test.each([
  [['--secure-port=1'], ['--secure-port=1']],
  [['--secure-port', '1'], ['--secure-port=1']],
  [['--anonymous-auth'], ['--anonymous-auth=true']],
  [
    ['--anonymous-auth=F', '--secure-port', '1'],
    ['--anonymous-auth=false', '--secure-port=1'],
  ],
  [['--anonymous_auth=1'], ['--anonymous-auth=true']],
  [['--cert-dir', '--odd-name'], ['--cert-dir=--odd-name']],
  [['--unheard-of'], ['--unheard-of']],
] as const)('%j is read as pflag does', (words, flags) => {
  expect(read(...words)).toEqual({ flags, withoutObject: [] })
})

test.each([
  [['-v=4'], ['--v']],
  [['-v', '4', '--v=5'], ['--v']],
  [
    ['-v4', '--contention-profiling', '--watch-cache=false', '--kubelet-read-only-port', '0'],
    ['--v', '--contention-profiling', '--watch-cache', '--kubelet-read-only-port'],
  ],
] as const)('%j has no object here', (words, withoutObject) => {
  expect(read(...words)).toEqual({ flags: [], withoutObject })
})

test.each([
  [['--secure-port'], 'flag needs an argument: --secure-port'],
  [['up'], 'unexpected argument up: flags begin with --'],
  [['--anonymous-auth', 'true'], 'unexpected argument true: flags begin with --'],
  [['words'], 'unexpected argument words: flags begin with --'],
  [['--insecure-port', '8080'], '--insecure-port=8080: there is only the port of --secure-port; 0 is accepted'],
] as const)('%j is refused', (words, message) => {
  expect(() => read(...words)).toThrow(message)
})

test('--allow-privileged=false is refused before anything starts', async () => {
  const terminal = { arguments: [], env: {}, workingFolder: '/', out: () => {}, error: () => {} }
  await expect(kubeApiServer(terminal, ['--allow-privileged=false'])).rejects.toThrow('--allow-privileged=false: only true')
})
