import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'

interface EditorOptions {
  readonly host: HTMLElement
  readonly label: string
  readonly text: string
  readonly onChange: (text: string) => void
}

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--link)' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--warn)' },
  { tag: tags.comment, color: 'var(--dim)' },
])

const look = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--code)', border: '1px solid var(--line)', borderRadius: '6px' },
  '&.cm-focused': { outline: '2px solid var(--link)' },
  '.cm-scroller': { font: '0.8125rem / 1.55 ui-monospace, monospace', minHeight: '16rem', maxHeight: '32rem' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { color: 'var(--dim)', backgroundColor: 'var(--code)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--mark)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--line)' },
})

/**
 * Opens an editor in an element. It uses a shadow root, where the Content Security Policy allows styles set by scripts. Tab moves the focus out of
 * it, as in other fields.
 */
export function openEditor({ host, label, text, onChange }: EditorOptions) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        bracketMatching(),
        highlightActiveLine(),
        indentUnit.of('  '),
        yaml(),
        syntaxHighlighting(colours),
        look,
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorView.contentAttributes.of({ 'aria-label': label }),
        EditorView.domEventHandlers({ beforeinput: replaceSelected }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString())
        }),
      ],
    }),
  })
  return {
    get text() {
      return view.state.doc.toString()
    },
    close: () => view.destroy(),
  }
}

/** Replaces the selection itself: browsers would copy its style to the new text as a style attribute, which the policy forbids. */
function replaceSelected({ inputType, data }: InputEvent, view: EditorView): boolean {
  if (inputType !== 'insertText' || data === null || view.state.selection.main.empty) return false
  view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true })
  return true
}
