import type { CommandContext } from '../command.ts'
import { objectName } from '../resources.ts'
import { namesFiles, readObjects, readTargets, type selectionFlags, type Target, targetOf } from '../targets.ts'
import { CtlError, type Flags } from '../words.ts'

/** The targets of words, or of files; those without a name become the objects that selectors choose. */
export async function chosen({ terminal, session, flags, rest }: CommandContext<typeof selectionFlags>): Promise<Target[]> {
  if (namesFiles(flags))
    return Promise.all((await readObjects(terminal, flags)).map((object) => targetOf(session, object, flags.namespace)))
  const targets = await readTargets(session, rest, flags)
  const isChosen = flags.all || flags.selector !== undefined || flags['field-selector'] !== undefined
  const expanded: Target[] = []
  for (const target of targets) {
    if (target.name !== undefined) {
      expanded.push(target)
      continue
    }
    if (!isChosen)
      throw new CtlError('resource(s) were provided, but no name was specified; name them, or use --all, -l or --field-selector')
    const { items } = await session.client
      .resource(target.resource)
      .listAll({ namespace: target.namespace, labelSelector: flags.selector, fieldSelector: flags['field-selector'] })
    for (const { metadata } of items) expanded.push({ resource: target.resource, namespace: metadata.namespace, name: metadata.name ?? '' })
  }
  return expanded
}

/** ` (2 of 7)`; nothing where there is one. */
export function ofMany(index: number, { length }: { readonly length: number }): string {
  return length === 1 ? '' : ` (${index + 1} of ${length})`
}

/** The targets in turn; the status line says which of them it is. */
export function* withStatus(
  { terminal }: Pick<CommandContext<Flags>, 'terminal'>,
  doing: string,
  targets: readonly Target[],
): Generator<Target, void, undefined> {
  for (const [index, target] of targets.entries()) {
    terminal.statusLine.show(`${doing} ${objectName(target.resource, target.name ?? '')}${ofMany(index, targets)}`)
    yield target
  }
}
