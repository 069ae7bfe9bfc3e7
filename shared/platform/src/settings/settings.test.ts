import { describe, expect, test } from 'vitest'
import { printHelp, printSettingsPage } from './help.ts'
import { editDistance, nearest } from './nearest.ts'
import { eachSetting, flagText, readSettings, settingsOf } from './setting.ts'
import { addressAt, bool, cidr, cidrPair, duration, int, list, oneOf, path, portRange } from './types.ts'

const settings = {
  securePort: settingsOf('Serving')({ flag: '--secure-port', env: 'T_PORT', type: int({ min: 0, max: 65535 }), default: '6443' }, 'Port.'),
  profile: settingsOf('Names')({ flag: '--profile', env: 'T_PROFILE', type: oneOf(['orch', 'kubernetes']), default: 'orch' }, 'Names.'),
  memory: settingsOf('State')({ flag: '--memory', env: 'T_MEMORY', type: bool, default: 'false' }, 'No disk.'),
  timeoutMs: settingsOf('Serving')({ flag: '--timeout', env: 'T_TIMEOUT', type: duration, default: '60s' }, 'Longest.'),
  controllers: settingsOf('State')({ flag: '--controllers', env: 'T_CONTROLLERS', type: list, default: '*' }, 'Which.'),
  dataDir: settingsOf('State')({ flag: '--data-dir', env: 'T_DIR', type: path, default: '', defaultDoc: 'data/<profile>' }, 'Where.'),
}
const read = (flags: string[], env: Record<string, string> = {}, file?: unknown) => readSettings(settings, { flags, env, file })

test('a declaration names its variable and its default only if they are unusual', () => {
  const setting = settingsOf('Serving')({ flag: '--tls-cert-file', type: path }, 'Where.')
  expect(setting).toMatchObject({ env: 'ORCH_TLS_CERT_FILE', default: '', group: 'Serving' })
  expect(settings.securePort).toMatchObject({ env: 'T_PORT', default: '6443' })
})

test('a flag takes precedence over the environment, the environment over the file, and the file over the default', () => {
  expect(read([]).values.securePort).toBe(6443)
  expect(read([], {}, { 'secure-port': 1 }).values.securePort).toBe(1)
  expect(read([], { T_PORT: '2' }, { 'secure-port': 1 }).values.securePort).toBe(2)
  expect(read(['--secure-port=3'], { T_PORT: '2' }, { 'secure-port': 1 }).values.securePort).toBe(3)
  expect([...read(['--secure-port', '3'], { T_TIMEOUT: '1s' }).texts.keys()]).toEqual(['--secure-port', '--timeout'])
})

test('the values of a group of settings are a group', () => {
  const { timeoutMs, ...others } = settings
  const grouped = { ...others, requests: { timeoutMs } }
  const result = readSettings(grouped, { flags: ['--timeout=1s'], env: { T_PORT: '2' } })
  expect(result.values).toMatchObject({ securePort: 2, requests: { timeoutMs: 1_000 } })
  expect([...result.texts]).toEqual([
    ['--secure-port', '2'],
    ['--timeout', '1s'],
  ])
  expect(printHelp(eachSetting(grouped))).toContain('--timeout duration')
})

test('flags take their value after = or as the next argument, and a boolean flag needs none', () => {
  expect(read(['--secure-port', '7', '--memory', '--profile=kubernetes']).values).toMatchObject({
    securePort: 7,
    memory: true,
    profile: 'kubernetes',
  })
  expect(read(['--memory=false']).values.memory).toBe(false)
})

test('an underscore in the name of a flag means a dash', () => {
  expect(read(['--secure_port=7', '--data_dir', '/a_b']).values).toMatchObject({ securePort: 7, dataDir: expect.stringMatching(/a_b$/) })
})

test('DEP-10: an older name of a flag causes a warning, at any place, and the last value counts', () => {
  const renamed = { wait: { ...settings.timeoutMs, flag: '--wait', formerly: ['--pause', '--patience'] } as const }
  const result = readSettings(renamed, { flags: ['--wait=1s', '--pause=2s'], env: {}, file: { patience: '3s' } })
  expect(result.values.wait).toBe(2_000)
  expect(result.warnings).toEqual(['--pause is deprecated: use --wait', '--patience is deprecated: use --wait'])
  expect([...result.texts]).toEqual([['--wait', '2s']])
  expect(printHelp(eachSetting(renamed))).toContain('Formerly --pause, which is deprecated.')
  expect(readSettings(renamed, { flags: ['--wait=1s'], env: {} }).warnings).toEqual([])
})

test('a flag of a similar program is refused with a specific message', () => {
  const elsewhere = { '--etcd': 'storage knows it' }
  const refused = { flags: ['--etcd=x'], env: {}, elsewhere }
  expect(() => readSettings(settings, refused)).toThrow('--etcd does not exist here: storage knows it')
  expect(() => readSettings(settings, { flags: [], env: {}, file: { etcd: 'x' }, elsewhere })).toThrow('--etcd does not exist here')
})

test('a list given several times is joined, and other settings use the last value', () => {
  expect(read(['--controllers=*', '--controllers', '-namespace,x']).values.controllers).toEqual(['*', '-namespace', 'x'])
  expect(read(['--secure-port=1', '--secure-port=2']).values.securePort).toBe(2)
  expect(read([], {}, { controllers: ['a', 'b'] }).values.controllers).toEqual(['a', 'b'])
})

describe('invalid input is refused with a sentence that names it', () => {
  const cases: [string, string[], unknown, string][] = [
    ['an unknown flag', ['--secur-port=1'], undefined, 'unknown flag --secur-port; did you mean --secure-port?'],
    ['a flag like no other', ['--zzzzzzzz'], undefined, 'unknown flag --zzzzzzzz'],
    ['a word without dashes', ['now'], undefined, 'unexpected argument now'],
    ['a missing value', ['--secure-port'], undefined, '--secure-port needs a value: a whole number between 0 and 65535'],
    ['a bad number', ['--secure-port=70000'], undefined, '--secure-port=70000: must be a whole number between 0 and 65535 (default 6443)'],
    [
      'a bad word',
      ['--profile=kubernets'],
      undefined,
      '--profile=kubernets: must be one of orch, kubernetes; did you mean kubernetes? (default orch)',
    ],
    ['an unknown key', [], { 'secure-prt': 1 }, 'unknown setting secure-prt in the configuration file; did you mean secure-port?'],
    [
      'a bad value in the file',
      [],
      { timeout: 'soon' },
      'timeout in the configuration file=soon: must be a length of time such as 30s, 5m or 1h30m (default 60s)',
    ],
    ['a file that is no map', [], ['x'], 'the configuration file must be a map of settings'],
  ]
  test.each(cases)('%s', (_, flags, file, message) => {
    expect(() => read(flags, {}, file)).toThrow(message)
  })
})

test('durations are printed like in Go', () => {
  expect(['0', '30s', '5m', '1h30m', '500ms', '1.5s'].map((text) => duration.parse(text))).toEqual([
    0, 30_000, 300_000, 5_400_000, 500, 1_500,
  ])
  expect(['', '5', '-1s', 's', '1 s', '5 minutes'].map((text) => duration.parse(text))).toEqual(Array(6).fill(undefined))
})

test('a pair of address blocks has one of each family', () => {
  const texts = (text: string) => cidrPair.parse(text)?.map((block) => block.text)
  expect(texts('10.0.0.0/24')).toEqual(['10.0.0.0/24'])
  expect(texts('fd00::/108,10.0.0.0/24')).toEqual(['fd00::/108', '10.0.0.0/24'])
  const wrong = ['10.0.0.0/24,', '10.0.0.0/24,x', '10.0.0.0/24,10.1.0.0/24', '10.0.0.0/24,fd00::/108,10.1.0.0/24', '10.0.0.0/24,fd00::/126']
  expect(wrong.map(texts)).toEqual(Array(5).fill(undefined))
})

test('address blocks have their first addresses', () => {
  const block = cidr.parse('10.0.0.7/24')
  expect(block?.text).toBe('10.0.0.0/24')
  expect(addressAt(block!, 1)).toBe('10.0.0.1')
  expect(addressAt(cidr.parse('fd00:1::/112')!, 1)).toBe('fd00:1::1')
  expect(['10.0.0.0', '10.0.0.0/31', '10.0.0.256/8', 'fd00::/127', '::1::/8', 'x/8'].map((text) => cidr.parse(text))).toEqual(
    Array(6).fill(undefined),
  )
})

test('port ranges include both bounds', () => {
  expect(portRange.parse('30000-32767')).toEqual({ first: 30000, last: 32767 })
  expect(['0-5', '5-4', '1-70000', 'a'].map((text) => portRange.parse(text))).toEqual(Array(4).fill(undefined))
})

test('the nearest word is the one with the fewest changes', () => {
  expect(editDistance('kitten', 'sitting')).toBe(3)
  expect(nearest('--datadir', ['--data-dir', '--date'])).toBe('--data-dir')
  expect(nearest('xyz', ['--data-dir'])).toBeUndefined()
})

test('a flag may be read before the other flags are parsed', () => {
  expect(flagText(['--a=1', '--config', 'x.yaml'], '--config')).toBe('x.yaml')
  expect(flagText(['--config=y'], '--config')).toBe('y')
  expect(flagText([], '--config')).toBeUndefined()
})

test('help and documentation list every setting with its default', () => {
  for (const text of [printHelp(eachSetting(settings)), printSettingsPage(settings, 'Settings')]) {
    for (const { flag, env } of Object.values(settings)) {
      expect(text).toContain(flag)
      expect(text).toContain(env)
    }
    expect(text).toContain('6443')
    expect(text).toContain('data/<profile>')
  }
})
