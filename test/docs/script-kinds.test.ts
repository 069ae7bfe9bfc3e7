import { namesOf } from '@orch/core/names'
import { scriptKinds } from '@orch/core/pod-life'
import { expect, test } from 'vitest'

interface Schema {
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema
  readonly required?: readonly string[]
  readonly enum?: readonly string[]
}

interface Definition {
  readonly names: { readonly kind: string }
  readonly scope: string
  readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[]
}

/** The rows of a schema: path, type, description. */
function rowsOf(schema: Schema, path: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const own = `${path}${name}`
    const inner = child.items ?? child
    const marks = [
      schema.required?.includes(name) ? 'Required.' : '',
      inner.enum === undefined ? '' : `One of ${inner.enum.map((word) => `\`${word}\``).join(', ')}.`,
    ]
    const text = [child.description ?? '', ...marks.filter((mark) => mark !== '')].join(' ').replaceAll('|', '\\|')
    const row = `| \`${own}${child.items === undefined ? '' : '[]'}\` | ${typeOf(child)} | ${text} |`
    return [row, ...rowsOf(inner, `${own}${child.items === undefined ? '' : '[]'}.`)]
  })
}

function typeOf({ type, items, additionalProperties }: Schema): string {
  if (items !== undefined) return `list of ${typeOf(items)}`
  if (additionalProperties !== undefined) return `${typeOf(additionalProperties)} by name`
  return type ?? 'quantity'
}

function printPage(): string {
  const kinds = scriptKinds(namesOf('kubernetes')).map(({ spec }) => spec as Definition)
  const sections = kinds.map(({ names: { kind }, scope, versions: [version] }) => {
    const schema = version?.schema.openAPIV3Schema ?? {}
    const head = `## ${kind}\n\n${schema.description} ${scope === 'Cluster' ? 'It belongs to no namespace.' : ''}`.trimEnd()
    if (kind === 'ClusterPodScript') return `${head} Its fields are those of a PodScript.`
    return `${head}\n\n| field | type | meaning |\n|---|---|---|\n${rowsOf(schema, '').join('\n')}`
  })
  return `# Kinds of scripts

For users of [simulated nodes](../how-to/simulated-nodes.md): the fields of the kinds of \`simulation.orch.io/v1\`. \`npm run golden\` writes this page from their schemas.

${sections.join('\n\n')}
`
}

test('the page of script kinds equals their schemas', async () => {
  await expect(printPage()).toMatchFileSnapshot('../../docs/reference/script-kinds.md')
})
