;;; A CUDA file in Emacs with Eglot, from opening to an applied variant, on the CPU backend.  -*- lexical-binding: t -*-
;; Batch mode runs no command loop, so the connection is made here; everything else is Eglot's own. Answers to questions
;; are given as a user would, by choosing from what is offered.

(require 'cl-lib)
(require 'flymake)

(defvar session-answers nil "Patterns of the answers to the next questions.")
(defvar session-offered nil "All that was offered, newest first.")

(defun session-say (step value)
  (princ (format "%s: %s\n" step value)))

(defun session-wait (what seconds condition)
  (let ((end (+ (float-time) seconds)) result)
    (while (not (or (setq result (funcall condition)) (> (float-time) end)))
      (accept-process-output nil 0.05))
    (or result (error "Nothing came of: %s; offered: %S" what session-offered))))

(defun session-choose (_prompt collection &rest _)
  (let* ((texts (mapcar (lambda (item) (if (consp item) (car item) item)) collection))
         (pattern (or (pop session-answers) (error "Unexpected question: %S" texts))))
    (push texts session-offered)
    (or (cl-find-if (lambda (text) (string-match-p pattern text)) texts)
        (error "Nothing like %s is offered: %S" pattern texts))))

(defun session-action (&rest answers)
  "Choose a code action at point, and answer what it asks."
  (setq session-answers answers)
  (cl-letf ((last-nonmenu-event ?a) ; a key, so that no menu is opened with the mouse
            ((symbol-function 'completing-read) #'session-choose))
    (eglot-code-actions (point) (point) nil t)))

(defun session-hover ()
  "Text of the hover on the kernel's name in its launch."
  (goto-char (point-min))
  (search-forward "saxpy<<<")
  (goto-char (1+ (match-beginning 0)))
  (eglot--signal-textDocument/didChange) ; in batch mode no idle timer does so
  (let ((answer (jsonrpc-request (eglot-current-server) :textDocument/hover (eglot--TextDocumentPositionParams))))
    (plist-get (plist-get answer :contents) :value)))

(defun session-run ()
  (let ((eglot-sync-connect t) (eglot-connect-timeout 60))
    (find-file (getenv "WARPWRIGHT_FILE"))
    (session-say "mode" major-mode)
    (apply #'eglot (eglot--guess-contact)))
  (setq-default eglot-workspace-configuration '((:warpwright . (:device "cpu" :maxVariants 3 :budget "200s"))))
  (eglot-signal-didChangeConfiguration (eglot-current-server))
  (flymake-start)
  (session-say "diagnostics" (length (session-wait "diagnostics" 60 #'flymake-diagnostics)))
  (session-say "hover" (session-wait "a hover" 60 (lambda () (let ((text (session-hover))) (and (string-match-p "Not measured" text) "Not measured")))))
  (session-action "^Optimize saxpy" "^Trust$")
  (session-say "hover after" (session-wait "a variant" 60 (lambda () (and (string-match-p "`: verified" (session-hover)) "verified"))))
  (let ((before (buffer-string)) (eglot-confirm-server-initiated-edits nil))
    (session-action "^Apply checked variant")
    (session-wait "an edit" 60 (lambda () (not (equal before (buffer-string))))))
  (session-say "hover applied" (session-wait "an applied variant" 60 (lambda () (and (string-match-p "The code is a verified variant" (session-hover)) "a verified variant"))))
  (write-region nil nil (concat (getenv "WARPWRIGHT_FILE") ".applied"))
  (session-say "done" "yes"))

(session-run)
