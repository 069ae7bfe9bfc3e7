/**
 * `npm run recording`: types the commands below against a server of its own, and draws what a terminal shows as docs/recording.svg. It
 * needs kubectl on the PATH; the README shows the picture, so it is made anew when an output changes.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Files that stand in the folder of the recording. */
const files = {
  'definition.yaml': `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: widgets, singular: widget, kind: Widget }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties: { size: { type: integer, default: 3 }, limit: { type: integer } }
              x-kubernetes-validations:
                - { rule: '!has(self.limit) || self.size <= self.limit', message: size is above the limit }
      additionalPrinterColumns: [{ name: Size, type: integer, jsonPath: .spec.size }]
`,
  'red.yaml': 'apiVersion: example.com/v1\nkind: Widget\nmetadata: { name: red }\nspec: { limit: 5 }\n',
  'blue.yaml': 'apiVersion: example.com/v1\nkind: Widget\nmetadata: { name: blue }\nspec: { size: 9, limit: 5 }\n',
}

/** The commands, in the order in which they are typed. */
export const commands = [
  'orch up --memory --profile kubernetes --secure-port 0 --detach',
  'export KUBECONFIG=.orch/kubernetes/admin.conf',
  'kubectl apply -f definition.yaml && kubectl apply --server-side -f red.yaml',
  'kubectl apply -f blue.yaml',
  'kubectl get widgets',

  'orch ctl blame widget/red',
  'orch stop',
]

/** Runs the commands in one shell each, with what earlier ones have exported; returns each with the lines that it printed. */
async function record(folder) {
  const environment = { ...process.env, PATH: `${folder}/bin${delimiter}${process.env.PATH}`, NO_COLOR: '1' }
  const steps = []
  for (const command of commands) {
    const [, name, value] = /^export (\w+)=(.*)$/.exec(command) ?? []
    if (name !== undefined) environment[name] = join(folder, value)
    const output = name === undefined ? await run(command, { cwd: folder, env: environment }) : ''
    steps.push({ command, lines: output.replaceAll(`${folder}/`, '').trimEnd().split('\n').filter(Boolean) })
  }
  return steps
}

function run(command, options) {
  return new Promise((resolve) => {
    execFile('sh', ['-c', command], options, (_error, stdout, stderr) => resolve(`${stdout}${stderr}`))
  })
}

const [charWidth, lineHeight, columns] = [8.4, 19, 104]

/**
 * A terminal as SVG: each step's command in one colour and its lines in another; a line beyond 104 characters is broken. The steps stand
 * once more as JSON in the picture's `metadata`.
 */
export function drawTerminal(steps) {
  const rows = steps.flatMap(({ command, lines }) => [
    ...broken(`$ ${command}`).map((text) => ({ kind: 'command', text })),
    ...lines.flatMap(broken).map((text) => ({ kind: 'output', text })),
  ])
  const [width, height] = [Math.round(columns * charWidth + 32), rows.length * lineHeight + 60]
  const texts = rows.map(
    ({ kind, text }, index) => `<text class="${kind}" x="16" y="${56 + index * lineHeight}">${escapeText(text)}</text>`,
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A terminal: a server starts, a definition and an object are applied, a rule refuses another object">`,
    `<metadata>${escapeText(JSON.stringify(steps))}</metadata>`,
    '<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre}.command{fill:#8bd5a0}.output{fill:#d7dae0}</style>',
    `<rect width="${width}" height="${height}" rx="8" fill="#1e2127"/>`,
    ...['#ff5f56', '#ffbd2e', '#27c93f'].map((fill, index) => `<circle cx="${22 + index * 20}" cy="22" r="6" fill="${fill}"/>`),
    ...texts,
    '</svg>',
    '',
  ].join('\n')
}

/** The steps that a picture was drawn of. */
export function stepsOf(picture) {
  const [, text = ''] = /<metadata>(.*?)<\/metadata>/s.exec(picture) ?? []
  return JSON.parse(text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'))
}

function broken(line) {
  if (line.length <= columns) return [line]
  const space = line.lastIndexOf(' ', columns)
  const end = space > columns / 2 ? space : columns
  return [line.slice(0, end), ...broken(line.slice(end).trimStart())]
}

function escapeText(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = mkdtempSync(join(tmpdir(), 'recording-'))
  try {
    mkdirSync(join(folder, 'bin'))
    writeFileSync(join(folder, 'bin/orch'), `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'scripts/run.mjs')}' orch "$@"\n`, {
      mode: 0o755,
    })
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    writeFileSync(join(root, 'docs/recording.svg'), drawTerminal(await record(folder)))
    process.stdout.write('docs/recording.svg is written.\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
