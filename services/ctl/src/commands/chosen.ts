import type { CommandContext } from '../command.ts'
import { objectName } from '../resources.ts'
import { type choiceFlags, isSelecting, namesFiles, readFileTargets, readTargets, type Target } from '../targets.ts'
import { CtlError, type Flags } from '../words.ts'

/** The targets of words, or of files; targets without a name are expanded by selectors. */
export async function chosen(context: CommandContext<typeof choiceFlags>): Promise<Target[]> {
  const { session, flags, rest } = context
  if (namesFiles(flags)) return readFileTargets(context)
  const targets = await readTargets(session, rest, flags)
  const expanded: Target[] = []
  for (const target of targets) {
    if (target.name !== undefined) {
      expanded.push(target)
      continue
    }
    if (!isSelecting(flags))
      throw new CtlError('resource(s) were provided, but no name was specified; name them, or use --all, -l or --field-selector')
    const { items } = await session.client
      .resource(target.resource)
      .listAll({ namespace: target.namespace, labelSelector: flags.selector, fieldSelector: flags['field-selector'] })
    for (const { metadata } of items) expanded.push({ resource: target.resource, namespace: metadata.namespace, name: metadata.name ?? '' })
  }
  return expanded
}

/** ` (2 of 7)`; empty for a single object. */
export function ofMany(index: number, { length }: { readonly length: number }): string {
  return length === 1 ? '' : ` (${index + 1} of ${length})`
}

/** The targets in turn; the status line names the current one. */
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
