;; Drives `debugger dap` by dap-mode in a batch Emacs.
;; emacs --batch -l dap_mode.el CONFIGURATION PROGRAM LINE NEXT_LINE
(package-initialize)
(setq lsp-auto-guess-root t  ;; nothing may be asked: there is nobody
      dap-print-io nil)
(require 'dap-mode)
(defvar given command-line-args-left)
(setq command-line-args-left nil)
(load (nth 0 given) nil t)  ;; as `debugger dap --print emacs` prints it
(defvar program (nth 1 given))
(defvar line (string-to-number (nth 2 given)))
(defvar next-line-number (string-to-number (nth 3 given)))
(defvar stops 0)
(defvar ends 0)
(defvar session nil)
(add-hook 'dap-stopped-hook (lambda (one) (setq session one)))
(add-hook 'dap-stack-frame-changed-hook (lambda (one) (setq session one stops (1+ stops))))
(add-hook 'dap-terminated-hook (lambda (_) (setq ends (1+ ends))))

(defun await (what condition)
  "Wait until CONDITION holds; WHAT is said if it never does."
  (let ((end (+ (float-time) 30)))
    (while (not (funcall condition))
      (when (> (float-time) end) (error "%s did not come" what))
      (accept-process-output nil 0.05))))

(defun shown-line ()
  "Return the line of the chosen frame."
  (and session (dap--debug-session-active-frame session)
       (gethash "line" (dap--debug-session-active-frame session))))

(defun ask (command arguments)
  "Send a request, and return the body of its response."
  (let (found)
    (dap--send-message (dap--make-request command arguments)
                       (lambda (answer) (setq found answer)) session)
    (await command (lambda () found))
    (unless (gethash "success" found) (error "%s: %s" command (gethash "message" found)))
    (gethash "body" found)))

(defun value-of (name)
  "Return the value of a local variable."
  (let* ((frame (gethash "id" (dap--debug-session-active-frame session)))
         (scope (elt (gethash "scopes" (ask "scopes" (list :frameId frame))) 0))
         (reference (gethash "variablesReference" scope)))
    (gethash "value"
             (seq-find (lambda (one) (equal (gethash "name" one) name))
                       (gethash "variables" (ask "variables" (list :variablesReference reference)))))))

(defun agent (&rest words)
  "Run a command as an agent does, and return what it prints."
  (with-temp-buffer
    (let ((status (apply #'call-process (getenv "DEBUGGER_PYTHON") nil t nil "-m" "debugger" words)))
      (unless (eq status 0) (error "%s: %s" words (buffer-string)))
      (buffer-string))))

(defun done (name) (princ (format "ok %s\n" name)))

(find-file program)
(agent "start" program "--break" (format "%s:%d" program line))
(dap-debug (cdr (assoc "Join the agent's session" dap-debug-template-configurations)))
(await "the agent's stop" (lambda () (equal (shown-line) line)))
(unless (equal (value-of "square") "1") (error "a value: %s" (value-of "square")))
(done "joins an agent's session where it is stopped, with its values")
(agent "next")
(await "the agent's step" (lambda () (equal (shown-line) next-line-number)))
(done "follows the agent's step")
(dap-next session)
(await "the own step" (lambda () (and (shown-line) (/= (shown-line) next-line-number))))
(unless (string-match-p "sum_to" (agent "context")) (error "the agent does not see the step"))
(done "steps for the agent to see")
(goto-char (point-min))
(forward-line (1- line))
(dap-breakpoint-add)
(dap-continue session (dap--debug-session-thread-id session))
(await "the breakpoint" (lambda () (equal (shown-line) line)))
(done "stops at a breakpoint")
(dap-disconnect session)
(await "the leave" (lambda () (not (dap--session-running session))))
(agent "context")
(agent "stop" "--all")
(done "leaves it")
(kill-emacs 0)
