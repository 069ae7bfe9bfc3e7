import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { CtlServer } from './run-ctl.ts'

const shared = new CtlServer()
const { ctl } = shared
const ran = (out: string, code = 0) => ({ code, out, error: '' })
const configMap = (data: object, labels: object = {}) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels }, data })
const apply = (data: object, manager = 'one', labels: object = {}) =>
  ctl(['apply', '-f', '-', `--field-manager=${manager}`, '--force-conflicts'], { input: configMap(data, labels) })

describe('orchctl edit', () => {
  /** An editor that runs the next of the given functions on the file each time the command opens it. */
  const editor = (...changes: ((text: string) => string)[]) => {
    const shown: string[] = []
    const run = (_program: string, words: readonly string[]) => {
      const file = words.at(-1) ?? ''
      const text = readFileSync(file, 'utf8')
      shown.push(text)
      writeFileSync(file, changes[shown.length - 1]?.(text) ?? text)
      return 0
    }
    return { run, shown }
  }

  test('writes only the change of the editor', async () => {
    await apply({ key: 'v', other: 'w' })
    const { run, shown } = editor((text) => text.replace('key: v', 'key: x').replace('  other: w\n', ''))
    expect(await ctl(['edit', 'cm', 'a'], { run })).toEqual(ran('configmap/a edited\n'))
    expect(shown[0]).toContain("Lines beginning with a '#' will be ignored")
    expect(shown[0]).not.toContain('managedFields')
    expect((await ctl(['get', 'cm', 'a', '-o', 'jsonpath={.data}'])).out).toBe('{"key":"x"}')
  })

  test('uses the editor in KUBE_EDITOR with its arguments', async () => {
    await apply({ key: 'v' })
    const called: (readonly string[])[] = []
    const run = (program: string, words: readonly string[]) => {
      called.push([program, ...words.slice(0, -1)])
      return 0
    }
    await ctl(['edit', 'cm', 'a'], { run, env: { KUBE_EDITOR: 'code --wait', EDITOR: 'nano' } })
    await ctl(['edit', 'cm', 'a'], { run, env: { EDITOR: 'nano' } })
    await ctl(['edit', 'cm', 'a'], { run })
    expect(called).toEqual([['code', '--wait'], ['nano'], ['vi']])
  })

  test('writes nothing for an unchanged text', async () => {
    await apply({ key: 'v' })
    expect(await ctl(['edit', 'cm', 'a'], { run: editor((text) => text).run })).toEqual(ran('Edit cancelled, no changes made.\n'))
    expect(await ctl(['edit', 'cm', 'a'], { run: editor(() => '').run })).toEqual(ran('Edit cancelled, no changes made.\n'))
  })

  test('opens a refused text again with the reason, until it is accepted', async () => {
    await apply({ key: 'v' })
    const { run, shown } = editor(
      (text) => text.replace('key: v', 'key: 7'),
      (text) => text.replace('key: 7', 'key: seven'),
    )
    const { code, out, error } = await ctl(['edit', 'cm', 'a'], { run })
    expect({ code, out }).toEqual({ code: 0, out: 'configmap/a edited\n' })
    expect(error).toMatch(/^Error from server \(Invalid\): /)
    expect(shown[1]).toMatch(/^# Error from server \(Invalid\): .*cannot unmarshal number into Go struct field ConfigMap\.data/m)
    expect(shown[1]).toContain('key: 7')
  })

  test('saves a refused text in a file if it is not changed again', async () => {
    await apply({ key: 'v' })
    const { code, error } = await ctl(['edit', 'cm', 'a'], { run: editor((text) => text.replace('key: v', 'key: [')).run })
    expect(code).toBe(1)
    const kept = /stored to "(.*)"/.exec(error)?.[1] ?? ''
    expect(readFileSync(kept, 'utf8')).toContain('key: [')
    rmSync(kept)
  })

  test('writes nothing if the editor fails', async () => {
    await apply({ key: 'v' })
    expect(await ctl(['edit', 'cm', 'a'], { run: () => 3, env: { EDITOR: 'false' } })).toEqual({
      code: 1,
      out: '',
      error: 'error: the editor "false" ended with exit code 3\n',
    })
  })
})

describe('orchctl diff', () => {
  test('prints the changes of an apply, with exit code 1', async () => {
    await apply({ key: 'v' })
    const { code, out } = await ctl(['diff', '-f', '-', '--field-manager=one'], { input: configMap({ key: 'w' }) })
    expect(code).toBe(1)
    expect(out).toContain('--- live/configmap.a.default\n+++ merged/configmap.a.default\n')
    expect(out).toContain(' data:\n-  key: v\n+  key: w\n')
    expect((await ctl(['get', 'cm', 'a', '-o', 'jsonpath={.data.key}'])).out).toBe('v')
  })

  test('prints nothing without a change, with exit code 0', async () => {
    await apply({ key: 'v' })
    expect(await ctl(['diff', '-f', '-', '--field-manager=one'], { input: configMap({ key: 'v' }) })).toEqual(ran(''))
  })

  test('prints an absent object as added; on a terminal with colours added lines are green', async () => {
    const { out } = await ctl(['diff', '-f', '-'], { input: configMap({ key: 'v' }), hasColors: true })
    expect(out).toContain('\u001b[32m+  key: v\u001b[0m')
  })

  test('compares an earlier revision with the live object', async () => {
    await apply({ key: 'v' })
    const { out: revision } = await ctl(['get', 'cm', 'a', '-o', 'jsonpath={.metadata.resourceVersion}'])
    await apply({ key: 'w' })
    const { code, out } = await ctl(['diff', 'cm', 'a', `--revision=${revision}`])
    expect(code).toBe(1)
    expect(out).toContain('-  key: v\n+  key: w\n')
    expect((await ctl(['diff', 'cm', 'a', '--revision=x'])).error).toBe(
      'error: "x" is not a resource version: it must be a positive whole number\n',
    )
  })
})

describe('orchctl history', () => {
  test('prints the stored changes, with their authors and paths', async () => {
    await apply({ key: 'v' })
    await apply({ more: 'x' }, 'two', { app: 'web' })
    await ctl(['patch', 'cm', 'a', '-p', '{data: {key: w}}', '--field-manager=three'])
    const rows = (await ctl(['history', 'cm', 'a', '--no-headers'])).out.split('\n').map((line) => line.split(/ {3,}/).slice(1))
    expect(rows.slice(0, -1).map(([event, manager, changed]) => [event, manager?.replace(/\d+s/, '0s'), changed])).toEqual([
      ['created', 'one (Apply, 0s)', '<none>'],
      ['changed', 'two (Apply, 0s)', '.metadata.labels.app .data.more'],
      ['changed', 'three (Update, 0s)', '.data.key'],
    ])
  })

  test('works for a deleted object too', async () => {
    await apply({ key: 'v' })
    await ctl(['delete', 'cm', 'a'])
    const { out } = await ctl(['history', 'cm', 'a'])
    expect(out.split('\n').map((line) => line.split(/ {3,}/)[1])).toEqual(['EVENT', 'created', 'deleted', undefined])
  })

  test('is empty for an object that never existed', async () => {
    expect(await ctl(['history', 'cm', 'never'])).toEqual({
      code: 1,
      out: '',
      error: 'error: the server has no changes of configmap/never in its history\n',
    })
  })
})

describe('orchctl blame', () => {
  test('prints each field with its managers', async () => {
    await apply({ key: 'v' })
    await apply({ more: 'x' }, 'two', { app: 'web' })
    const { out } = await ctl(['blame', 'cm', 'a'])
    const lines = out.split('\n').map((line) => line.replace(/\d+s/g, '0s').replace(/ +│/, ' │'))
    expect(lines).toContain('one (Apply, 0s) │   key: v')
    expect(lines).toContain('two (Apply, 0s) │   more: x')
    expect(lines).toContain('two (Apply, 0s) │     app: web')
    expect(lines).toContain('- │   name: a')
    expect(out).not.toContain('managedFields')
  })

  test('finds list items by their keys, and shows both managers of a shared value', async () => {
    const service = (port: object) =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 's', finalizers: ['x.io/one'] },
        spec: { ports: [{ port: 80, ...port }], selector: { app: 'web' } },
      })
    await ctl(['apply', '-f', '-', '--field-manager=one'], { input: service({ name: 'http' }) })
    await ctl(['apply', '-f', '-', '--field-manager=two'], { input: service({ targetPort: 8080 }) })
    const lines = (await ctl(['blame', 'svc', 's'])).out.split('\n').map((line) => line.replace(/\d+s/g, '0s').replace(/ +│/, ' │'))
    expect(lines).toContain('one (Apply, 0s) │   - name: http')
    expect(lines).toContain('one (Apply, 0s), two (Apply, 0s) │     port: 80')
    expect(lines).toContain('two (Apply, 0s) │     targetPort: 8080')
    expect(lines).toContain('one (Apply, 0s), two (Apply, 0s) │   - x.io/one')
  })
})

describe('orchctl watch', () => {
  /** Runs the command; when it has printed a text, takes the next step. */
  async function watching(args: readonly string[], ...steps: readonly (readonly [printed: RegExp, next: () => unknown])[]) {
    const ending = new AbortController()
    let step = 0
    const seen = (out: string) => {
      const [printed, next] = steps[step] ?? [/$^/, () => {}]
      if (!printed.test(out)) return
      step += 1
      void next()
      if (step === steps.length) ending.abort()
    }
    return ctl(args, { signal: ending.signal, seen })
  }

  test('prints objects, and then each change with its type', async () => {
    await apply({ key: 'v' })
    const { code, out } = await watching(
      ['watch', 'cm'],
      [/^ADDED +a /m, () => apply({ key: 'w' })],
      [/^MODIFIED +a /m, () => ctl(['delete', 'cm', 'a'])],
      [/^DELETED +a /m, () => {}],
    )
    expect(code).toBe(0)
    expect(out).toMatch(/^EVENT +NAME +DATA +AGE\nADDED +a +1 .*\nMODIFIED +a +1 .*\nDELETED +a +1 .*\n$/)
  })

  test('prints events as JSON', async () => {
    await apply({ key: 'v' })
    const { out } = await watching(['watch', 'cm', 'a', '-o', 'json'], [/\n\}\n$/, () => {}])
    expect(JSON.parse(out)).toMatchObject({ type: 'ADDED', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } } })
  })
})

describe('orchctl describe', () => {
  test('prints an object with all its fields and its events', async () => {
    await apply({ key: 'v' }, 'one', { app: 'web' })
    const { out: uid } = await ctl(['get', 'cm', 'a', '-o', 'jsonpath={.metadata.uid}'])
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'a.1' },
      involvedObject: { kind: 'ConfigMap', name: 'a', namespace: 'default', uid },
      type: 'Normal',
      reason: 'Seen',
      message: 'it was seen',
      source: { component: 'eye' },
      firstTimestamp: '2020-01-01T00:00:00Z',
      lastTimestamp: '2020-01-01T00:00:00Z',
    }
    await ctl(['create', '-f', '-'], { input: JSON.stringify(event) })
    const { out } = await ctl(['describe', 'cm', 'a'])
    expect(out).toMatch(
      /^Name: +a\nNamespace: +default\nLabels: +app=web\nAnnotations: +<none>\nAPI Version: +v1\nKind: +ConfigMap\nMetadata:\n/,
    )
    expect(out).toMatch(/^ {2}Creation Timestamp: +\d{4}-/m)
    expect(out).toMatch(/^Data:\n {2}Key: +v\n/m)
    expect(out).toMatch(/^ {2}Normal +Seen +\d+y\d* *(\d+d)? +eye +it was seen$/m)
    expect((await ctl(['describe', 'cm', 'a', '--show-events=false'])).out).not.toContain('Events:')
  })

  test('omits events of another object with the same name', async () => {
    await apply({ key: 'v' })
    expect((await ctl(['describe', 'cm', 'a'])).out).toMatch(/Events: {2}<none>\n$/)
  })
})

describe('orchctl explain-request', () => {
  test('prints the user, the reason of the permission, and admission results; a write is a dry run', async () => {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'web:1' }] } }
    const { code, out } = await ctl(['explain-request', 'create', '-f', '-'], { input: JSON.stringify(pod) })
    expect(code).toBe(0)
    expect(out).toMatch(/^create Pod p: 201\n {2}User +\S+ \(client certificate\)\n {2}Authorization +allow/)
    expect(out).toMatch(/^ {2}mutate +Priority +\d+\.\d\d +add \/spec\/priority 0/m)
    expect((await ctl(['get', 'pod', 'p'])).code).toBe(1)
  })

  test('explains a refusal, with exit code 1', async () => {
    const { code, out } = await ctl(['explain-request', 'get', 'cm', 'never'])
    expect(code).toBe(1)
    expect(out).toContain('get ConfigMap never: 404\n')
    expect(out).toMatch(/Refused +404 NotFound: configmaps "never" not found/)
  })

  test('reports a missing permission to see explanations', async () => {
    const { code, error } = await ctl(['explain-request', 'get', 'cm', 'a', '--as=nobody'])
    expect(code).toBe(1)
    expect(error).toMatch(/^error: the server does not explain the request: /)
  })
})

describe('orchctl completion', () => {
  test.each([
    [['ex'], ['explain', 'explain-request', 'explain-schedule']],
    [['get', 'configm'], ['configmaps']],
    [['get', 'cm', 'a'], ['a']],
    [['get', 'cm', '-n', 'kube-s'], ['kube-system']],
    [['get', '-n', 'kube-system', 'cm', 'a'], []],
    [['get', '--no'], ['--no-headers']],
    [['nosuch', ''], []],
    [['version', ''], []],
  ])('completes %j to %j', async (words, expected) => {
    await apply({ key: 'v' })
    const { out } = await ctl(['__complete', ...words])
    expect(out.split('\n').filter((line) => line !== '')).toEqual(expected)
  })

  test.each(['bash', 'zsh', 'fish'])('has a script for %s', async (shell) => {
    const { code, out } = await ctl(['completion', shell])
    expect({ code, calls: out.includes('orchctl __complete') }).toEqual({ code: 0, calls: true })
  })
})

test.each(['fault list', 'fault clear', 'fault remove a', 'fault add a hang'])(
  '%s explains how to start a server with faults',
  async (line) => {
    const { code, error } = await ctl(line.split(' '))
    expect([code, error]).toEqual([1, 'error: the server has no FaultRules: it has to be started with --fault-injection\n'])
  },
)
