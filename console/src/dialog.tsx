import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface DialogProps {
  readonly label: string
  readonly close: () => void
  readonly children: ComponentChildren
}

/** A dialog that opens when it is rendered; Esc closes it. */
export function Dialog({ label, close, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  // Before the browser handles the next key, which belongs to the dialog.
  useLayoutEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} aria-label={label} onClose={close}>
      {children}
    </dialog>
  )
}
