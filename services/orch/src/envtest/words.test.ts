import { expect, test } from 'vitest'
import { kubeApiServer, readApiServerWords, readControllerValues } from './kube-apiserver.ts'
import { apiServerSettings, printApiServerHelp } from './settings.ts'

const read = (...words: string[]) => readApiServerWords(apiServerSettings, words, 37)

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
  expect(read(...words)).toEqual({ flags, withoutObject: [], deprecated: [] })
})

test.each([
  [['-v=4'], ['--v']],
  [['-v', '4', '--v=5'], ['--v']],
  [
    ['-v4', '--contention-profiling', '--watch-cache=false', '--kubelet-read-only-port', '0'],
    ['--v', '--contention-profiling', '--watch-cache', '--kubelet-read-only-port'],
  ],
] as const)('%j has no object here', (words, withoutObject) => {
  expect(read(...words)).toMatchObject({ flags: [], withoutObject })
})

test.each([
  ['--logtostderr', 25, 26, 'has it up to 1.25'],
  ['--master-service-namespace=x', 26, 27, 'has it up to 1.26'],
  ['--authentication-config=x', 29, 28, 'has it from 1.29 on'],
  ['--disable-http2-serving', 31, 30, 'has it from 1.31 on'],
  ['--tls-curve-preferences=23', 36, 35, 'has it from 1.36 on'],
] as const)('%s is a flag of kube-apiserver 1.%i and unknown to 1.%i', (word, known, unknown, reason) => {
  expect(() => readApiServerWords(apiServerSettings, [word], known)).not.toThrow()
  const flag = word.split('=')[0]
  const message = `unknown flag: ${flag}: kube-apiserver ${reason}; this is 1.${unknown}`
  expect(() => readApiServerWords(apiServerSettings, [word], unknown)).toThrow(message)
})

test('the settings of controllers come from the environment, with the defaults of a server', () => {
  const env = { ORCH_ENVTEST_CONTROLLERS: 'nodelifecycle,all', ORCH_NODE_MONITOR_GRACE_PERIOD: '1s' }
  const { controllers, nodeLifecycle } = readControllerValues(env)
  expect(controllers).toEqual(expect.arrayContaining(['customresourcedefinition', 'nodelifecycle', '*']))
  expect(nodeLifecycle).toMatchObject({ graceMs: 1_000, monitorPeriodMs: 5_000 })
})

test('empty words are ignored', () => {
  expect(read('', '--secure-port', '0', '').flags).toEqual(['--secure-port=0'])
})

test('deprecated flags are named, each once, in the releases that warn of them', () => {
  const words = ['--apiserver-count=1', '--apiserver-count=2', '--master-service-namespace=x']
  const deprecatedAt = (minor: number) => readApiServerWords(apiServerSettings, words, minor).deprecated
  expect(deprecatedAt(25)).toEqual(['--apiserver-count'])
  expect(deprecatedAt(26)).toEqual(['--apiserver-count', '--master-service-namespace'])
})

test('the help and the defaults are those of the release', () => {
  const [older, newer] = [printApiServerHelp(31), printApiServerHelp(37)]
  expect([older.includes('--requestheader-uid-headers'), newer.includes('--requestheader-uid-headers')]).toEqual([false, true])
  expect(older).toMatch(/--etcd-prefix string\n.*\(default \/registry\)/)
  expect(older).toMatch(/--audit-log-maxage int\n.*\(default 0\)/)
  expect(newer).toMatch(/--audit-log-maxage int\n.*\(default 366\)/)
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

const terminal = { arguments: [], env: {}, workingFolder: '/', out: () => {}, error: () => {} }

test('the environment names the release of the assets, whose flags are accepted', async () => {
  const start = kubeApiServer({ ...terminal, env: { ORCH_EMULATED_VERSION: '1.30' } }, ['--emulated-version=1.30'])
  await expect(start).rejects.toThrow('unknown flag: --emulated-version')
})

test('--allow-privileged=false is refused before anything starts', async () => {
  await expect(kubeApiServer(terminal, ['--allow-privileged=false'])).rejects.toThrow('--allow-privileged=false: only true')
})
