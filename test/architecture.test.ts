import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Finds the functions that the text attributes to a file, and the files that it names; returns one error for each that does not exist. */
function wrongPlaces(text: string): string[] {
  return [...text.matchAll(/`([\w./-]+\.(?:ts|mjs))`(?:: ((?:`\w+`(?:, | and )?)+))?/g)].flatMap(([, file = '', names = '']) => {
    if (!file.includes('/')) return []
    if (!existsSync(join(root, file))) return [`${file} is missing`]
    const code = read(file)
    return [...names.matchAll(/`(\w+)`/g)].flatMap(([, name = '']) => (declares(code, name) ? [] : [`${file} has no ${name}`]))
  })
}

/** A function, a class, a constant or a method of this name. */
function declares(code: string, name: string): boolean {
  return new RegExp(`(?:function\\*? |class |const )${name}\\b|^  (?:static |async |readonly )*[*#]?${name}(?: = |<|\\()`, 'm').test(code)
}

function section(title: string): string {
  const [, text = ''] = read('ARCHITECTURE.md').split(`\n## ${title}\n`)
  return text.split('\n## ')[0] ?? ''
}

test('each file and function that the journeys of ARCHITECTURE.md name exists', () => {
  const text = section('Journeys')
  expect([...text.matchAll(/^### (.*)$/gm)].map(([, title]) => title)).toEqual(['Create', 'List', 'Watch event', 'Apply', 'Login'])
  expect([...text.matchAll(/`[\w./-]+\.ts`: `\w+`/g)].length).toBeGreaterThan(45)
  expect(wrongPlaces(text)).toEqual([])
})

test('a journey with an absent file or function is reported', () => {
  const [verb, gone] = ['services/gateway/src/verbs/create.ts', 'services/gateway/src/verbs/gone.ts']
  const text = `1. \`${verb}\`: \`create\` and \`respondStored\`\n2. \`${gone}\`: \`create\`\n3. \`${verb}\``
  expect(wrongPlaces(text)).toEqual([`${verb} has no respondStored`, `${gone} is missing`])
})

test('every library that a package depends on is in the list of ARCHITECTURE.md', () => {
  const text = section('Libraries')
  const packages = ['admission', 'controllers', 'gateway', 'orch', 'storage', 'watch'].map((name) => `services/${name}`)
  const folders = [...packages, ...['cel', 'client', 'core', 'platform', 'testkit'].map((name) => `shared/${name}`)]
  const used = folders.flatMap((folder) => Object.keys(JSON.parse(read(`${folder}/package.json`)).dependencies ?? {}))
  const foreign = used.filter((name) => !name.startsWith('@orch/') && name !== 'orch')
  expect(foreign.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})

test('every controller is in the list of ARCHITECTURE.md', () => {
  const text = read('docs/reference/controllers.md')
  const names = /Known: ([\w, -]+) \(/.exec(read('docs/reference/settings-controllers.md'))?.[1]?.split(', ') ?? []
  expect(names).toContain('statefulset')
  expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})
