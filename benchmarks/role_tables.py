"""Role tables: names of the columns of 219 public or usual tables, the roles a person would give them, made-up values.

Names and types were written down from memory, and every value is made up here.  A line is: column, role, values.
Roles: I identifier, Q quasi-identifier, S sensitive, O sensitive and what the table is about (its outcome), P plain
(not published); Q/S where people differ.
Values: `n` numbers of rows, `u` codes of rows, `0-9` whole numbers, `0.0-9.0` decimals, `a|b` categories, or a word of
`MAKERS`.  The last 23 tables were written after the rules, and are reported apart.
"""

import random
from collections.abc import Callable
from typing import Any

FIRST = "Anna Peter Maria Lukas Sophie Jan Elena Tom Camille Paulo Giulia Sven Lucia Mehmet Emma Noah".split()  # noqa: SIM905
LAST = "Weber Smith Garcia Rossi Dubois Jansen Silva Novak Okafor Lindqvist Huber Tanaka Moreau Costa".split()  # noqa: SIM905
TOWNS = "Lyon Graz Porto Leiden Turin Leipzig Toledo Bath Ghent Bern".split()  # noqa: SIM905
STREETS = "Mill Lane,Hauptstrasse,Rue Haute,Via Roma,Kerkstraat,Rua Nova".split(",")  # noqa: SIM905
WORDS = "seen today after fall at home asked her son to call again next week about pain in left knee".split()  # noqa: SIM905

TITANIC = """PassengerId I n; Survived O 0|1; Pclass Q 1-3; Name I titled; Sex Q male|female; Age Q 0-80;
SibSp Q 0-5; Parch Q 0-4; Ticket I u; Fare S/Q/P 5.0-300.0; Cabin Q cabin; Embarked Q S|C|Q"""
ADULT = """age Q 17-90; workclass Q Private|State-gov|Self-emp|?; fnlwgt P 10000-900000; education Q
HS|BA|MA|PhD; education-num Q 1-16; marital-status Q Married|Never|Divorced; occupation Q Sales|Tech|Craft|Farm;
relationship Q Wife|Husband|Own-child; race Q White|Black|Asian; sex Q Male|Female; capital-gain S 0-9999; capital-loss
S 0-4000; hours-per-week Q/P/S 1-99; native-country Q USA|Mexico|India; income O <=50K|>50K"""
STROKE = """id I n; gender Q Male|Female|Other; age Q 0-82; hypertension S 0|1; heart_disease S 0|1;
ever_married Q Yes|No; work_type Q Private|Govt|children; Residence_type Q Urban|Rural; avg_glucose_level S
55.0-270.0; bmi S/Q 15.0-60.0; smoking_status S never|formerly|smokes; stroke O 0|1"""
COMPAS = """id I n; name I lower; first I first; last I last; sex Q Male|Female; dob Q date:1930-1998; age Q
18-80; age_cat Q Less than 25|25 - 45|Greater than 45; race Q African-American|Caucasian|Hispanic; juv_fel_count S
0-5; decile_score S 1-10; juv_misd_count S 0-5; juv_other_count S 0-5; priors_count S 0-30; days_b_screening_arrest
S/P 0-30; c_jail_in Q date:2013-2014; c_jail_out Q date:2013-2014; c_case_number I u; c_charge_degree S F|M;
c_charge_desc S Battery|Theft|Arson; is_recid O 0|1; score_text S Low|Medium|High; two_year_recid O 0|1"""
IBM_HR = """Age Q 18-60; Attrition O Yes|No; BusinessTravel Q/P/S Rarely|Often|Never; DailyRate S 100-1499;
Department Q Sales|Research|HR; DistanceFromHome Q/P 1-29; Education Q 1-5; EducationField Q Life|Medical|Marketing;
EmployeeNumber I n; EnvironmentSatisfaction S 1-4; Gender Q Male|Female; HourlyRate S 30-100; JobInvolvement S 1-4;
JobLevel Q 1-5; JobRole Q Manager|Nurse|Rep; JobSatisfaction S 1-4; MaritalStatus Q Single|Married|Divorced;
MonthlyIncome S 1000-19999; NumCompaniesWorked Q/P 0-9; Over18 Q/P Y; OverTime Q/P/S Yes|No; PercentSalaryHike S
11-25; PerformanceRating S 3|4; StockOptionLevel S 0-3; TotalWorkingYears Q 0-40; WorkLifeBalance S 1-4;
YearsAtCompany Q 0-40; YearsInCurrentRole Q/P 0-18"""
INSURANCE = """age Q 18-64; sex Q male|female; bmi S/Q 16.0-53.0; children Q 0-5; smoker S yes|no; region Q
northeast|southwest|southeast; charges O 1100.0-63000.0"""
PBCSEQ = """id I repeat; futime P/S 40-5200; status O 0-2; trt S/P 0|1; age Q 26.0-78.0; sex Q m|f; day P/Q
0-5000; ascites S 0|1; hepato S 0|1; spiders S 0|1; edema S 0|1; bili S/P 0.3-30.0; chol S 120-1700; albumin S
1.9-4.9; platelet S 60-700; protime S/P 9.0-18.0; stage S 1-4"""
NHEFS = """seqn I n; qsmk S 0|1; death O 0|1; yrdth S/Q/P 83-92; sex Q 0|1; age Q 25-74; race Q 0|1; income
S 11-22; marital Q 2-8; school Q 0-17; education Q 1-5; ht Q 142.0-198.0; wt71 Q 40.0-150.0; wt82 Q 40.0-150.0;
birthplace Q 1-56; smokeintensity S 1-80; asthma S 0|1; bronch S 0|1; hbp S/P 0|1; diabetes S 0|1; alcoholfreq S 0-4;
pregnancies S 0-9; cholesterol S 100-400; birthcontrol S 0-2; tumor S 0|1"""
RAND_HIE = """mdvis O 0-77; lncoins P/S 0.0-4.6; idp I/P 0|1; lpi P/S 0.0-7.1; fmde P/S 0.0-8.3; physlm S
0.0-1.0; disea S 0.0-58.6; hlthg S 0|1; hlthf S 0|1; hlthp S 0|1; linc S 0.0-10.2; lfam Q 0.0-2.6; educdec Q 0-25;
xage Q 0-64; female Q 0|1; child Q 0|1; fchild Q 0|1; black Q 0|1"""
COVID = """subject_id I n; fake_first_name I first; fake_last_name I last; gender Q female|male; pan_day
Q/P 4-107; test_id P/I covid; clinic_name Q clinic; result O negative|positive|invalid; demo_group Q patient|staff;
age Q 0-138; drive_thru_ind P/Q 0|1; ct_result S 14.0-45.0; orderset P/S 0|1; payor_group S/Q/P commercial|government;
patient_class Q/S inpatient|outpatient|emergency; col_rec_tat P/S 0.1-50.0; rec_ver_tat P/S 0.1-50.0"""
ACS = """SERIALNO I n; PUMA Q puma; AGEP Q 0-95; SEX Q 1|2; MSP Q 1-6; HISP Q 0-24; RAC1P Q 1-9; NOC Q/P
0-5; NPF Q/P 2-10; HOUSING_TYPE Q 1-3; OWN_RENT Q 0-2; DENSITY P/Q 100.0-9000.0; INDP Q 170-9920; EDU Q 1-12; PINCP S
0-300000; PINCP_DECILE S 0-9; POVPIP S/P 0-501; DVET S/Q/P 0-6; DREM S 1|2; DEYE S 1|2; DEAR S 1|2; PWGTP P 1-500"""
KLINIK = """Fallnummer I n; Nachname I last; Vorname I first; Geburtsdatum Q date:1930-2010; Geschlecht Q
m|w|d; PLZ Q zip5; Wohnort Q town; Telefon I phone; Krankenkasse Q/S/P AOK|TK|Barmer; Aufnahmedatum Q date:2023-2024;
Hauptdiagnose S icd; Entlassungsart S/P 1-4; Blutdruck S 90-190; Raucher S ja|nein; Bemerkung I text"""
PERSONAL = """Personalnummer I n; Name I name; E-Mail I email; Abteilung Q IT|Einkauf|Lager; Position Q
Leiter|Assistenz|Meister; Eintrittsdatum Q date:1995-2023; Gehalt S 28000-120000; Familienstand Q
ledig|verheiratet|geschieden; Kinder Q 0-4; Staatsangehörigkeit Q deutsch|polnisch|türkisch; IBAN I iban;
Schwerbehinderung S ja|nein; Konfession S rk|ev|keine"""
GERMAN_CREDIT = """checking_status S <0|0-200|none; duration P/S 4-72; credit_history S critical|paid|delayed;
purpose P/S car|radio|education; credit_amount S 250-18424; savings_status S <100|500|unknown; employment Q
<1|1-4|>=7; installment_commitment P/S 1-4; personal_status Q male single|female div|male mar; other_parties P/Q/S
none|guarantor; residence_since Q 1-4; property_magnitude Q/S car|real estate|life; age Q 19-75; other_payment_plans
P/S/Q bank|none; housing Q own|rent|free; existing_credits S/P 1-4; job Q skilled|unskilled; num_dependents Q 1|2;
own_telephone Q none|yes; foreign_worker Q yes|no; class O good|bad"""
TELCO = """customerID I u; gender Q Female|Male; SeniorCitizen Q 0|1; Partner Q Yes|No; Dependents Q
Yes|No; tenure Q/P/S 0-72; PhoneService P/Q/S Yes|No; InternetService P/Q/S DSL|Fiber|No; StreamingTV P/Q/S Yes|No;
Contract P/Q/S month|year; PaperlessBilling P/Q/S Yes|No; PaymentMethod P/Q/S check|bank|card; MonthlyCharges S
18.0-118.0; TotalCharges S 18.0-8684.0; Churn O Yes|No"""
BANK = """age Q 18-95; job Q admin.|services|retired; marital Q married|single|divorced; education Q
primary|tertiary; default S yes|no; balance S 0-9999; housing S/Q yes|no; loan S/Q yes|no; contact P/Q/I
cellular|telephone; day P/Q 1-31; month P/Q jan|feb|mar; duration P/S 1-4918; campaign P/S 1-63; pdays P/S 0-871;
previous P/S 0-30; poutcome S/P failure|other|success; y O yes|no"""
STUDENT = """school Q GP|MS; sex Q F|M; age Q 15-22; address Q U|R; famsize Q LE3|GT3; Pstatus Q T|A; Medu Q
0-4; Fedu Q 0-4; Mjob Q teacher|health|other; Fjob Q teacher|health|other; reason Q/P/S home|course; guardian Q
mother|father; traveltime P/Q 1-4; studytime P/S/Q 1-4; failures S 0-3; schoolsup P/S/Q yes|no; romantic S/Q yes|no;
Dalc S 1-5; Walc S 1-5; health S 1-5; absences S 0-93; G1 S 0-19; G2 S 0-19; G3 O 0-20"""
HEART = """age Q 29-77; sex Q 0|1; cp S/P 0-3; trestbps S 94-200; chol S 126-564; fbs S/P 0|1; restecg S/P
0-2; thalach S 71-202; exang S/P 0|1; oldpeak S 0.0-6.2; slope P/S 0-2; ca P/S 0-4; thal P/S 0-3; target O 0|1"""
PIMA = """Pregnancies S 0-17; Glucose S 44-199; BloodPressure S 24-122; SkinThickness S/P 7-99; Insulin S
14-846; BMI S/Q 18.0-67.0; DiabetesPedigreeFunction S/P 0.07-2.42; Age Q 21-81; Outcome O 0|1"""
DIABETES130 = """encounter_id I n; patient_nbr I n; race Q Caucasian|Asian|Other; gender Q Female|Male; age Q
[0-10)|[10-20)|[20-30); weight Q [75-100)|[50-75)|?; admission_type_id P/Q/S 1-8; discharge_disposition_id S/P 1-28;
time_in_hospital S/P/Q 1-14; payer_code P/Q/S MC|HM|SP; medical_specialty P/S/Q Surgery|Cardiology; num_lab_procedures
P/S 1-132; num_medications S 1-81; diag_1 S icd; diag_2 S icd; max_glu_serum S/Q None|>200|Norm; A1Cresult S
None|>8|Norm; metformin S/Q No|Steady|Up; insulin S No|Steady|Up; diabetesMed S Yes|No; readmitted O NO|<30|>30"""
NHANES = """SEQN I n; SDDSRVYR P/Q 9-10; RIAGENDR Q 1|2; RIDAGEYR Q 0-80; RIDRETH1 Q 1-5; DMDBORN4 Q 1|2;
DMDEDUC2 Q 1-5; DMDMARTL Q 1-6; DMDHHSIZ Q 1-7; INDFMPIR S 0.0-5.0; WTMEC2YR P 4000.0-170000.0; SDMVPSU P 1|2; BMXBMI
S/Q/P 13.0-67.0; BPXSY1 S/P 74-228; HIV S 1|2; Diabetes S Yes|No; Depressed S/Q None|Several|Most; SexOrientation S
Hetero|Homo|Bi"""
BRFSS = """_STATE Q 1-56; SEXVAR Q 1|2; _AGEG5YR Q 1-13; _RACE Q 1-8; EDUCA Q 1-6; INCOME2 S 1-8; MARITAL Q
1-6; EMPLOY1 Q 1-8; CHILDREN Q 0-8; VETERAN3 Q 1|2; GENHLTH S 1-5; MENTHLTH S 0-30; SMOKE100 S 1|2; DIABETE4 S/P 1-4;
HTM4 Q/P 130-200; WTKG3 Q/P 4000-15000; _LLCPWT P 10.0-9000.0"""
LALONDE = """treat S/P 0|1; age Q 16-55; educ Q 0-18; black Q 0|1; hispan Q 0|1; married Q 0|1; nodegree Q
0|1; re74 S 0.0-35000.0; re75 S 0.0-25000.0; re78 O 0.0-60000.0"""
LENDING = """id I n; member_id I n; loan_amnt S 500-40000; int_rate P/S 5.0-30.0; grade S/Q A|B|C; emp_title
Q job; emp_length Q/P <1|5|10+; home_ownership Q RENT|OWN|MORTGAGE; annual_inc S 10000-250000; issue_d Q/P
Dec-2015|Jan-2016; loan_status O Paid|Default; url I url; desc I text; zip_code Q zip3; addr_state Q CA|NY|TX; dti S
0.0-40.0"""
HMDA = """respondent_id P/Q/I lender; action_taken O 1-8; loan_amount S 5000-900000; derived_race Q
White|Black|Asian; derived_ethnicity Q Hispanic|Not; derived_sex Q Male|Female|Joint; applicant_age Q <25|25-34|35-44;
income S 10-400; county_code Q 1001-1040; census_tract Q 100000-100090; loan_purpose P/S 1-5; debt_to_income_ratio S
20%|30%|40%"""
PATIENTS_FR = """numéro_dossier I n; nom I last; prénom I first; date_naissance Q date:1930-2012; sexe Q H|F;
code_postal Q zip5; ville Q town; courriel I email; téléphone I phone; profession Q infirmier|cadre|ouvrier;
situation_familiale Q marié|célibataire; nb_enfants Q 0-5; diagnostic S asthme|grippe|cancer; traitement S A|B; revenu
S 9000-90000; commentaires I text"""
CLIENTES_ES = """id_cliente I n; DNI I dni; nombre I first; apellidos I last; fecha_nacimiento Q date:1940-2004;
sexo Q H|M; provincia Q Madrid|Sevilla|Lugo; municipio Q town; código_postal Q zip5; estado_civil Q soltero|casado;
nivel_estudios Q primaria|superior; ocupación Q job; num_hijos Q 0-4; ingresos S 8000-90000; deuda S 0-50000;
correo_electrónico I email; teléfono I phone; fumador S sí|no"""
PAZIENTI_IT = """codice_fiscale I cf; cognome I last; nome I first; data_nascita Q date:1935-2008; sesso Q M|F;
comune Q town; CAP Q zip5; cittadinanza Q italiana|rumena; titolo_studio Q licenza|laurea; professione Q job; diagnosi
S asma|diabete; farmaco S A|B|C; reddito S 9000-80000; esito O guarito|deceduto; telefono I phone; indirizzo I street"""
MEDEWERKERS_NL = """personeelsnummer I n; voornaam I first; achternaam I last; geboortedatum Q date:1955-2004;
geslacht Q M|V; postcode Q nl; woonplaats Q town; functie Q job; opleidingsniveau Q mbo|hbo|wo; burgerlijke_staat Q
gehuwd|alleen; nationaliteit Q NL|BE|PL; salaris S 24000-110000; ziekte S ja|nein; BSN I n; e-mailadres I email;
opmerkingen I text"""
UTENTES_PT = """numero_utente I n; nome I name; data_nascimento Q date:1935-2010; sexo Q M|F; freguesia Q town;
concelho Q town; codigo_postal Q pt; profissao Q job; habilitacoes Q básico|superior; estado_civil Q solteiro|casado;
nacionalidade Q PT|BR|AO; rendimento S 6000-70000; doenca S asma|gripe; medicamento S A|B; obito O 0|1; telemovel I
phone; NIF I n"""

# -- ten that were written after the first version, and at hand for the second --------------------------------

FRAMINGHAM = """male Q 0|1; age Q 32-70; education Q 1-4; currentSmoker S 0|1; cigsPerDay S 0-70; BPMeds S 0|1;
prevalentStroke S 0|1; prevalentHyp S 0|1; diabetes S 0|1; totChol S 107-696; sysBP S 83.0-295.0; diaBP S 48.0-142.0;
BMI S/Q 15.0-57.0; heartRate S/P 44-143; glucose S 40-394; TenYearCHD O 0|1"""
NO_SHOW = """PatientId I repeat; AppointmentID I n; Gender Q F|M; ScheduledDay Q date:2016-2016;
AppointmentDay Q date:2016-2016; Age Q 0-99; Neighbourhood Q town; Scholarship Q/S/P 0|1; Hipertension S 0|1; Diabetes
S 0|1; Alcoholism S 0|1; Handcap S 0-4; SMS_received P/Q 0|1; No-show O Yes|No"""
CARDS = """ID I n; LIMIT_BAL S 10000-800000; SEX Q 1|2; EDUCATION Q 1-4; MARRIAGE Q 1-3; AGE Q 21-79; PAY_0
S 0-8; PAY_2 S 0-8; BILL_AMT1 S 0-700000; PAY_AMT1 S 0-300000; default.payment.next.month O 0|1"""
STOPS = """stop_date Q date:2012-2015; stop_time P/Q 01:00|13:30|22:45; county_name Q/P Kent|Essex;
driver_gender Q M|F; driver_age Q 15-90; driver_race Q White|Black|Asian; violation_raw S/Q Speeding|Seatbelt|Phone;
search_conducted S/P/Q yes|no; stop_outcome O Citation|Warning|Arrest; is_arrested O yes|no; stop_duration P/S/Q
0-15|16-30|30+; drugs_related_stop S yes|no"""
COLON = """id I n; study P 1; rx S Obs|Lev|Lev5FU; sex Q 0|1; age Q 18-85; obstruct S/P 0|1; perfor S/P
0|1; adhere S/P 0|1; nodes S/P 0-33; status O 0|1; differ S/P 1-3; extent S/P 1-4; surg S/P 0|1; node4 S/P 0|1; time
P/S/Q 20-3300; etype P/S 1|2"""
LAW_SCHOOL = """race Q White|Black|Hispanic; sex Q 1|2; LSAT S 11.0-48.0; UGPA S 0.0-4.2; region_first Q
GL|NE|MS; sander_index P/S 0.4-1.0; first_pf O 0|1"""
WAGES = """wage O 1.0-44.5; education Q 2-18; experience Q/P 0-55; age Q 18-64; ethnicity Q
cauc|hispanic|other; region Q south|other; gender Q male|female; occupation Q worker|technical|office; sector Q
manufacturing|other; union S yes|no; married Q yes|no"""
SOEP = """persnr I n; hhnr I repeat; syear P/Q 2015-2019; gebjahr Q 1930-2000; sex Q 1|2; bundesl Q 1-16;
migback Q 1-3; bilzeit Q 7-18; erwstat Q 1-9; netto_einkommen S 300-9000; gesund_zufr S 0-10; famstd Q 1-5; nkinder Q
0-5; arzt_besuche S 0-30"""
DATASUS = """NU_NOTIFIC I n; DT_NOTIFIC Q date:2019-2022; SG_UF_NOT Q SP|RJ|MG; ID_MUNICIP Q/P 350010-350060;
DT_NASC Q date:1930-2015; NU_IDADE_N Q 0-99; CS_SEXO Q M|F; CS_GESTANT S 1-6; CS_RACA Q 1-5; CS_ESCOL_N Q 0-9;
CLASSI_FIN O 1-8; EVOLUCAO O 1-4; DT_OBITO Q date:2019-2022; FEBRE S 1|2; NM_PACIENT I name; NM_MAE_PAC I name"""
CHURN = """RowNumber I n; CustomerId I n; Surname I last; CreditScore S 350-850; Geography Q
France|Spain|Germany; Gender Q Female|Male; Age Q 18-92; Tenure Q/P/S 0-10; Balance S 0.0-250000.0; NumOfProducts
P/S/Q 1-4; HasCrCard P/S/Q 0|1; IsActiveMember P/S/Q 0|1; EstimatedSalary S 11.0-199992.0; Exited O 0|1"""


SUPPORT = """sno I n; age Q 18-101; death O 0|1; sex Q female|male; hospdead O 0|1; slos S/P 3-343; d.time
P/S 3-2029; dzgroup S ARF|CHF|Coma; num.co S/P 0-9; edu Q 0-31; income S under11k|11-25k|50k; scoma S/P 0-100; charges
S 1000.0-500000.0; totcst S 500.0-200000.0; race Q white|black|asian; meanbp S 30-195; hrt S/P 30-200; temp S/P
32.0-41.0; diabetes S 0|1; dementia S 0|1; ca S/Q/P yes|no"""
TITANIC_CREW = """surname I last; forenames I first; job_on_board Q job; boarded_at Q Belfast|Southampton;
nationality Q British|Irish; survivor O yes|no; lifeboat P/S/Q A|B|C; birth_town Q town; body_number I/P/S 1-400"""
ABSENTEEISM = """ID I repeat; Reason_for_absence S 0-28; Month_of_absence Q/P 1-12; Day_of_the_week P/Q 2-6;
Seasons P/Q 1-4; Transportation_expense S/P 118-388; Distance_from_Residence_to_Work Q/P 5-52; Service_time Q/P 1-29;
Age Q 27-58; Disciplinary_failure S 0|1; Education Q 1-4; Son Q/P 0-4; Social_drinker S 0|1; Social_smoker S 0|1; Pet
P/Q 0-8; Weight Q 56-108; Height Q 163-196; Body_mass_index S/Q 19-38; Absenteeism_time_in_hours O 0-120"""
WVS = """interview_number I n; country_code Q 4-60; year_survey Q/P 2017-2022; gender Q 1|2; age_recoded
Q 1-6; marital_status Q 1-6; num_children Q 0-8; highest_educational_level Q 0-8; employment_status Q 1-8;
income_scale S 1-10; religious_denomination S 0-9; political_scale S 1-10; life_satisfaction S 1-10; state_of_health S
1-5; mother_immigrant Q 0|1; w_weight P 0.1-4.0"""
ESTUDIANTES = """matricula I n; nombre_alumno I name; edad Q 16-40; genero Q F|M; carrera Q/P Derecho|Medicina;
semestre P/Q 1-10; promedio S/P 5.0-10.0; beca S/Q/P si|no; lugar_origen Q town; trabaja Q/S si|no; discapacidad S
si|no; lengua_indigena Q/S si|no; ingreso_familiar S 2000-60000; desercion O si|no"""
RH_FR = """matricule I n; nom_usuel I last; prenom I first; date_embauche Q date:1990-2023; service Q/P
Achats|Paie; poste_occupe Q job; type_contrat Q/P/S CDI|CDD; temps_travail Q/P/S plein|partiel; salaire_brut S
18000-95000; age Q 18-66; sexe Q F|H; commune_residence Q town; nb_jours_absence S/P 0-60; handicap S oui|non;
motif_depart O retraite|démission; adresse_mail I email"""
ONDERZOEK_NL = """respondentnr I n; leeftijd Q 18-90; geslacht Q man|vrouw; provincie Q Utrecht|Drenthe; opleiding
Q laag|hoog; inkomen S 10000-90000; herkomst Q/S NL|overig; religie S geen|rk; stemgedrag S VVD|D66|PvdA;
gezinssamenstelling Q/P alleen|paar; woonsituatie Q koop|huur; rookt S ja|nee; medicijngebruik S ja|nee; werkzaam Q/S
ja|nee; postcode4 Q 1011-1099"""
RICOVERI = """id_paziente I n; eta Q 0-99; genere Q M|F; regione_residenza Q Lazio|Puglia; data_ricovero Q
date:2021-2022; data_dimissione Q date:2021-2022; reparto Q/S/P cardiologia|chirurgia; diagnosi_principale S icd;
giorni_degenza S/P 1-60; esito_dimissione O casa|decesso; stato_civile Q celibe|coniugato; medico_curante I/Q/P name;
peso_kg Q/S 40-130"""
FITNESS = """user_id I repeat; date Q date:2023-2023; steps P/S 0-25000; heart_rate_avg S/P 50-140;
sleep_hours S/P 3.0-10.0; device P/Q A|B; birth_year Q 1950-2005; gender Q f|m; city Q town; lat Q 45.0-46.9; lon Q
7.0-9.9; ip_address I ip; stress_level S 1-5"""
MAMMO = """accession I u; patient_mrn I n; zipcode Q zip5; ageAtExam Q 40-89; raceEthnicity Q
White|Black|Asian; density S/Q A|B|C; birads S 0-6; familyHistory S/Q 0|1; priorBiopsy S/P 0|1; cancerWithin1yr O 0|1;
radiologist I/Q/P 1-20; examDate Q date:2015-2020; insuranceType Q/S/P HMO|PPO|Medicaid; comments I text"""

# -- ten that the version of early November had not seen: recall of sensitive columns 0.68 ------------------------

MIMIC = """subject_id I n; hadm_id I u; gender Q M|F; anchor_age Q 18-91; admittime Q date:2110-2190; dischtime Q
date:2110-2190; admission_type P/S/Q EMERGENCY|ELECTIVE|URGENT; insurance Q/S/P Medicare|Private|Medicaid; language Q
ENGL|SPAN|?; marital_status Q MARRIED|SINGLE|WIDOWED; ethnicity Q WHITE|BLACK|ASIAN; diagnosis S SEPSIS|PNEUMONIA|FALL;
hospital_expire_flag O 0|1; los_icu S/P 0.1-40.0; first_careunit P/Q/S MICU|SICU|CCU"""
HR_V14 = """Employee_Name I name; EmpID I n; MarriedID Q 0|1; GenderID Q 0|1; Salary S/Q 45000-250000; Termd O 0|1;
Position Q job; State Q MA|CT|TX; Zip Q zip5; DOB Q date:1951-1992; Sex Q M|F; MaritalDesc Q Single|Married|Divorced;
CitizenDesc Q US Citizen|Eligible; HispanicLatino Q Yes|No; RaceDesc Q White|Black|Asian; DateofHire Q date:2006-2018;
TermReason S career change|hours|attendance; EmploymentStatus Q/S Active|Terminated; Department Q Sales|IT|Production;
ManagerName I/Q/P name; RecruitmentSource P/Q Indeed|LinkedIn; PerformanceScore S Fully Meets|Exceeds|PIP;
EngagementSurvey S 1.0-5.0; EmpSatisfaction S 1-5; Absences S 1-20; DaysLateLast30 S 0-6"""
MENTAL_TECH = """Timestamp Q date:2014-2015; Age Q 18-72; Gender Q male|female|other; Country Q US|UK|Canada; state Q
CA|IL|NY; self_employed Q Yes|No; family_history S/Q Yes|No; treatment O Yes|No; work_interfere S Often|Rarely|Never;
no_employees Q/P 1-5|6-25|26-100; remote_work P/Q/S Yes|No; benefits S/P/Q Yes|No; seek_help S/P/Q Yes|No;
mental_health_consequence S Yes|No|Maybe; phys_health_consequence S Yes|No|Maybe; comments I text"""
SHOOTINGS = """id I n; name I name; date Q date:2015-2022; manner_of_death O shot|shot and Tasered; armed S/Q/P
gun|knife|unarmed; age Q 12-91; gender Q M|F; race Q W|B|H|A; city Q town; state Q CA|TX|FL; signs_of_mental_illness S
True|False; threat_level S/Q/P attack|other; flee S/Q/P car|foot; body_camera P/Q/S True|False; longitude Q
70.0-118.0; latitude Q 25.0-48.0"""
OULAD = """id_student I n; code_module Q/P AAA|BBB|CCC; code_presentation P/Q 2013J|2014B; gender Q M|F; region Q
Wales|Scotland|London; highest_education Q A Level|HE|None; imd_band Q/S 0-10%|10-20%; age_band Q 0-35|35-55|55<=;
num_of_prev_attempts S/P/Q 0-6; studied_credits P/S/Q 30-240; disability S Y|N; final_result O Pass|Fail|Withdrawn"""
KIDNEY = """id I n; age Q 2-90; bp S 50-180; sg S/P 1.0-1.03; al S/P 0-5; su S/P 0-5; rbc S normal|abnormal; bgr S/P
22-490; bu S/P 2-391; sc S/P 0.4-76.0; hemo S/P 3.1-17.8; htn S yes|no; dm S yes|no; cad S yes|no; appet S/P/Q
good|poor; ane S/P/Q yes|no; classification O ckd|notckd"""
NLSY = """caseid I n; birth_year Q 1957-1964; female Q 0|1; black Q 0|1; hispanic Q 0|1; afqt_score S 1-99;
highest_grade_completed Q 0-20; ever_incarcerated S 0|1; poverty_status S 0|1; weeks_unemployed S/Q/P 0-52; hourly_pay
S/Q 2.0-90.0; num_kids Q 0-8; marstat Q 0-6; region Q 1-4; urban Q 0|1; drank_alcohol S 0|1; used_marijuana S 0|1;
sample_weight P 1000-900000"""
SCHUELER = """Schuelernummer I n; Nachname I last; Vorname I first; Klasse Q/P 5a|6b|7c; Geschlecht Q m|w; Geburtsjahr Q
2005-2014; Muttersprache Q Deutsch|Polnisch|Arabisch; Staatsangehoerigkeit Q deutsch|syrisch; Konfession S ev|rk|ohne;
Foerderbedarf S ja|nein; Mathenote S 1-6; Deutschnote S 1-6; Fehlstunden S/P 0-120; Versetzt O ja|nein; Wohnort Q town;
Telefon_Eltern I phone; Bemerkungen I text"""
ACCIDENTS_FR = """num_acc I n; id_usager I u; date_accident Q date:2019-2022; catu S/P/Q 1-3; sexe Q 1|2; an_nais Q
1930-2005; grav O 1-4; trajet P/Q/S 0-9; commune Q town; dep Q 1-95; lat Q 43.0-49.9; long Q 0.1-7.9; alcoolemie S
0.0-2.5; stupefiants S oui|non; permis P/S/Q valide|retire"""
ENSANUT = """folio I n; entidad Q Jalisco|Puebla; municipio Q town; edad Q 20-99; sexo Q 1|2; peso_kg Q/S 40-140;
talla_cm Q/S 140-195; diabetes_dx S 1-3; hipertension S si|no; colesterol_total S 90-380; fuma S si|no;
consumo_alcohol S si|no; escolaridad Q 0-9; ocupacion Q job; ingreso_hogar S 1000-90000; estado_civil Q
soltero|casado; embarazo S si|no; puntaje_depresion S 0-27; vivienda Q/P propia|rentada; lengua_indigena Q/S
si|no"""
# -- twelve that the version of mid-November had not seen: recall of sensitive columns 0.54, of outcomes 0.42 --

GBSG2 = """horTh S no|yes; age Q 21-80; menostat S/Q Pre|Post; tsize S/P 3-120; tgrade S I|II|III; pnodes S 1-51;
progrec S/P 0-2380; estrec S/P 0-1144; time S/P 8-2659; cens O 0|1"""
SYNTHEA = """Id I u; BIRTHDATE Q date:1920-2019; DEATHDATE S/Q date:1990-2020; SSN I ssn; DRIVERS I u; PASSPORT I u;
PREFIX Q/P/I Mr.|Mrs.|Ms.; FIRST I first; LAST I last; MAIDEN I last; MARITAL Q M|S|D; RACE Q white|black|asian;
ETHNICITY Q hispanic|nonhispanic; GENDER Q M|F; BIRTHPLACE Q town; ADDRESS I street; CITY Q town; STATE Q
Massachusetts|Maine; COUNTY Q Suffolk|Essex|Norfolk; ZIP Q zip5; LAT Q 41.0-42.9; LON Q 70.0-73.4; HEALTHCARE_EXPENSES
S/Q 1000.0-900000.0; HEALTHCARE_COVERAGE S/Q 0.0-90000.0"""
HR_LEFT = """satisfaction_level S 0.1-1.0; last_evaluation S 0.36-1.0; number_project P/S/Q 2-7; average_montly_hours
P/S/Q 96-310; time_spend_company Q 2-10; Work_accident S 0|1; left O 0|1; promotion_last_5years S 0|1; sales Q/P
sales|technical|support|IT; salary S low|medium|high"""
GIVE_CREDIT = """SeriousDlqin2yrs O 0|1; RevolvingUtilizationOfUnsecuredLines S/P/Q 0.0-1.5; age Q 21-98;
NumberOfTime30-59DaysPastDueNotWorse S 0-12; DebtRatio S/P/Q 0.0-2.0; MonthlyIncome S/Q 0-25000;
NumberOfOpenCreditLinesAndLoans S/P 0-30; NumberOfTimes90DaysLate S 0-10; NumberRealEstateLoansOrLines S/P 0-8;
NumberOfDependents Q 0-8"""
LOAN_PREDICTION = """Loan_ID I u; Gender Q Male|Female; Married Q Yes|No; Dependents Q 0|1|2|3+; Education Q
Graduate|Not Graduate; Self_Employed Q Yes|No; ApplicantIncome S/Q 150-81000; CoapplicantIncome S/Q 0-41667;
LoanAmount S/Q 9-700; Loan_Amount_Term P/S 120|180|240|360; Credit_History S 0|1; Property_Area Q
Urban|Semiurban|Rural; Loan_Status O Y|N"""
NIJ_RECIDIVISM = """ID I n; Gender Q M|F; Race Q BLACK|WHITE; Age_at_Release Q 18-22|23-27|28-32|48 or older;
Residence_PUMA Q 1-25; Gang_Affiliated S True|False; Supervision_Risk_Score_First S 1-10; Supervision_Level_First S/P
Standard|High|Specialized; Education_Level Q Less than HS|HS diploma|Some college; Dependents Q 0|1|2|3 or more;
Prison_Offense S Drug|Property|Violent/Sex; Prison_Years S/Q Less than 1 year|1-2 years|More than 3 years;
Prior_Arrest_Episodes_Felony S 0-10; Prior_Conviction_Episodes_Misd S 0-4; Prior_Revocations_Parole S true|false;
Condition_MH_SA S true|false; Violations_ElectronicMonitoring S true|false; Delinquency_Reports S 0-4;
DrugTests_THC_Positive S 0.0-1.0; Percent_Days_Employed Q/S/P 0.0-1.0; Recidivism_Within_3years O true|false;
Training_Sample P 0|1"""
XAPI = """gender Q M|F; NationalITy Q KW|Jordan|Lebanon; PlaceofBirth Q Kuwait|Jordan|Iraq; StageID Q/P
lowerlevel|MiddleSchool|HighSchool; GradeID Q/P G-02|G-07|G-12; SectionID Q/P A|B|C; Topic P/Q IT|Math|Arabic; Semester
P/Q F|S; Relation Q/P Father|Mum; raisedhands P/S 0-100; VisITedResources P/S 0-99; AnnouncementsView P/S 0-98;
Discussion P/S 1-99; ParentAnsweringSurvey P/S Yes|No; ParentschoolSatisfaction S Good|Bad; StudentAbsenceDays S
Under-7|Above-7; Class O L|M|H"""
CAR_CLAIMS = """ID I n; KIDSDRIV Q/P 0-4; BIRTH Q date:1936-1980; AGE Q 16-81; HOMEKIDS Q 0-5; YOJ Q/P 0-23; INCOME
S/Q 0-250000; PARENT1 Q Yes|No; HOME_VAL S/Q 0-700000; MSTATUS Q Yes|z_No; GENDER Q M|z_F; EDUCATION Q Bachelors|PhD;
OCCUPATION Q Clerical|Lawyer|Home Maker; TRAVTIME P/Q 5-142; CAR_USE P/Q Private|Commercial; BLUEBOOK Q/P/S 1500-69740;
TIF P/Q 1-25; CAR_TYPE Q/P Minivan|SUV|Van; RED_CAR Q/P yes|no; OLDCLAIM S/Q 0-57037; CLM_FREQ S 0-5; REVOKED S Yes|No;
MVR_PTS S 0-13; CLM_AMT S/Q 0-85000; CAR_AGE Q/P 0-28; CLAIM_FLAG O 0|1; URBANICITY Q Urban|Rural"""
VERSICHERTE = """Versichertennummer I u; Anrede Q Herr|Frau; Titel Q/P/I Dr.|Prof.|kein; Familienname I last; Geburtstag
Q date:1940-2005; Strasse_Hausnr I street; PLZ Q zip5; Ort Q town; Beruf Q job; Tarif P/S/Q Basis|Komfort|Premium;
Jahresbeitrag S/Q/P 200.0-4000.0; Vorerkrankung S ja|nein; Anzahl_Schaeden S 0-6; Schadenhoehe S/Q 0.0-20000.0;
Zahlungsverzug S ja|nein; Gekuendigt O ja|nein; Versicherungsbeginn Q date:1995-2023; Kontonummer I iban"""
COVID_MX = """ID_REGISTRO I u; FECHA_ACTUALIZACION P/Q date:2020-2021; ORIGEN P/Q 1|2; SECTOR P/Q 1-13; ENTIDAD_UM Q
1-32; SEXO Q 1|2; ENTIDAD_NAC Q 1-32; ENTIDAD_RES Q 1-32; MUNICIPIO_RES Q 1-120; TIPO_PACIENTE S/Q/P 1|2; FECHA_INGRESO
Q date:2020-2021; FECHA_SINTOMAS Q/S date:2020-2021; FECHA_DEF O/Q date:2020-2021; INTUBADO S 1|2|97; NEUMONIA S 1|2|99;
EDAD Q 0-105; NACIONALIDAD Q 1|2; EMBARAZO S 1|2|97; HABLA_LENGUA_INDIG Q/S 1|2|99; DIABETES S 1|2|98; EPOC S 1|2|98;
ASMA S 1|2|98; INMUSUPR S 1|2|98; HIPERTENSION S 1|2|98; OBESIDAD S 1|2|98; RENAL_CRONICA S 1|2|98; TABAQUISMO S 1|2|98;
RESULTADO_LAB O 1-4; CLASIFICACION_FINAL O 1-7; UCI S 1|2|97"""
ENEM = """NU_INSCRICAO I n; NU_ANO P/Q 2019-2022; TP_FAIXA_ETARIA Q 1-20; TP_SEXO Q F|M; TP_ESTADO_CIVIL Q 0-4;
TP_COR_RACA Q 0-5; TP_NACIONALIDADE Q 0-4; TP_ESCOLA Q 1-3; IN_TREINEIRO P/Q 0|1; NO_MUNICIPIO_ESC Q town; SG_UF_ESC Q
SP|RJ|MG; TP_PRESENCA_MT P/S 0-2; NU_NOTA_MT O 350.0-900.0; NU_NOTA_REDACAO O 0-1000; TP_STATUS_REDACAO S/P 1-9;
RENDA_FAMILIAR S A|B|C|D; ESCOLARIDADE_MAE Q A|B|C|D; IN_DEFICIT_ATENCAO S 0|1; IN_BAIXA_VISAO S 0|1; TP_LINGUA P/Q
0|1"""
RECENSEMENT = """NUMMI I/P n; CANTVILLE Q 101-140; AGED Q 0-105; SEXE Q 1|2; STAT_CONJ Q 1-6; DIPL Q 1-19; CS1 Q 1-8;
IMMI Q 1|2; INATC Q 1|2; INAI Q 1-6; NPERR Q/P 1-6; NENFR Q/P 0-4; TACT Q/S 11|12|21|22; TP Q/P/S 1|2|Z; TRANS P/Q 1-6;
TYPL P/Q 1-6; STOCD Q/P 10|21|22; ANARR Q 1950-2019; IPONDI P 0.5-5.0"""

# -- eight that the version of 17 November had not seen: recall of sensitive columns 0.71, of outcomes 0.50 --

EARLY_DIABETES = """Age Q 16-90; Gender Q Male|Female; Polyuria S Yes|No; Polydipsia S Yes|No; sudden_weight_loss S
Yes|No; weakness S Yes|No; Polyphagia S Yes|No; Genital_thrush S Yes|No; visual_blurring S Yes|No; Itching S Yes|No;
Irritability S Yes|No; delayed_healing S Yes|No; partial_paresis S Yes|No; muscle_stiffness S Yes|No; Alopecia S/Q
Yes|No; Obesity S/Q Yes|No; class O Positive|Negative"""
HOME_CREDIT = """SK_ID_CURR I n; TARGET O 0|1; NAME_CONTRACT_TYPE P/S/Q Cash loans|Revolving loans; CODE_GENDER Q M|F;
FLAG_OWN_CAR Q Y|N; FLAG_OWN_REALTY Q/S Y|N; CNT_CHILDREN Q 0-5; AMT_INCOME_TOTAL S/Q 25000-900000; AMT_CREDIT S/Q
45000-2000000; AMT_ANNUITY S/Q/P 1600-90000; NAME_INCOME_TYPE Q/S Working|Pensioner|State servant; NAME_EDUCATION_TYPE Q
Secondary|Higher; NAME_FAMILY_STATUS Q Married|Single|Widow; NAME_HOUSING_TYPE Q House|With parents|Rented; DAYS_BIRTH Q
7500-25000; DAYS_EMPLOYED Q/P 0-15000; OCCUPATION_TYPE Q Laborers|Managers|Drivers; CNT_FAM_MEMBERS Q 1-8;
ORGANIZATION_TYPE Q/P School|Bank|Police; EXT_SOURCE_1 S/P/Q 0.01-0.96; DEF_30_CNT_SOCIAL_CIRCLE S/P 0-5"""
DROPOUT_PT = """Marital_status Q 1-6; Application_mode P/Q 1-18; Course Q/P 1-17; Daytime_evening_attendance Q/P/S
0|1; Previous_qualification Q 1-17; Nacionality Q 1-21; Mothers_qualification Q/P 1-29; Mothers_occupation Q/P 1-32;
Displaced S/Q/P 0|1; Educational_special_needs S 0|1; Debtor S 0|1; Tuition_fees_up_to_date S 0|1; Gender Q 0|1;
Scholarship_holder S/Q/P 0|1; Age_at_enrollment Q 17-70; International Q 0|1; Curricular_units_1st_sem_approved S/P
0-26; Curricular_units_1st_sem_grade S 0.0-18.9; Target O Dropout|Enrolled|Graduate"""
GSS = """year P/Q 2010|2012|2014; id I n; wrkstat Q/S 1-8; marital Q 1-5; childs Q 0-8; age Q 18-89; educ Q 0-20;
degree Q 0-4; sex Q 1|2; race Q 1-3; born Q 1|2; region Q 1-9; prestg10 Q/P/S 16-80; realinc S/Q 250-160000; partyid S
0-7; polviews S 1-7; relig S 1-13; attend S 0-8; happy S 1-3; health S 1-4; abany S 1|2; gunlaw S 1|2; grass S 1|2;
natfare S/P 1-3; evstray S 1-3; wtssall P 0.3-5.0"""
ESCAPAD = """identifiant I n; annee_naissance Q 2000-2004; sexe Q garcon|fille; region Q Bretagne|Occitanie;
departement Q 1-95; situation_scolaire Q lycee|apprenti|sorti; parents_separes Q/S oui|non; conso_cannabis_mois S
0-30; ivresses_annee S 0-50; tabac_quotidien S oui|non; sante_percue S bonne|moyenne|mauvaise; tentative_suicide S
oui|non; ressources_parents S 1-5; age_premiere_cigarette S/P 8-17; rapports_sexuels S oui|non; redoublement S
oui|non; poids Q/S 40-110; langue_maison Q francais|autre"""
SHIW = """NQUEST I n; NORD Q/P 1-6; SESSO Q 1|2; ETA Q 0-99; STUDIO Q 1-6; STACIV Q 1-4; AREA5 Q 1-5; NCOMP Q 1-9;
QUAL Q 1-7; SETT Q 1-9; NASCREG Q 1-20; CIT Q 1|2; PARENT Q/P 1-10; REDDITO_NETTO S/Q 0-120000; RICCHEZZA S/Q
0-900000; DEBITI_TOT S/Q 0-200000; GODABIT Q/P/S 1-4; FELICITA S 1-10; SALUTE S 1-5; PESO P/Q 0.1-5.0"""
VERZUIM = """Personeelsnr I n; Roepnaam I first; Achternaam I last; Afdeling Q Inkoop|Logistiek|ICT; Functieschaal Q/S
4-14; Geboortejaar Q 1956-2003; Geslacht Q M|V; Dienstjaren Q 0-40; Contractvorm Q/P/S vast|tijdelijk; Verzuimdagen S
0-200; Verzuimreden S griep|burn-out|rug; Beoordeling S A|B|C; Salaris_bruto S/Q 24000-98000; Uit_dienst O ja|nee;
Woonplaats Q town; Nationaliteit Q NL|BE|PL; Lid_vakbond S ja|nee; Opmerking I text"""
SQF = """pct Q/P 1-123; datestop Q date:2011-2013; perobs P/S 1-10; crimsusp S FELONY|MISD|CPW; frisked S/Q/P Y|N;
searched S/Q/P Y|N; contrabn S Y|N; arstmade O Y|N; sumissue O Y|N; pistol S Y|N; sex Q M|F; race Q B|W|Q; age Q
10-90; ht_feet Q 4-7; weight Q 80-320; haircolr Q BK|BR|BL; eyecolor Q BR|BL|GR; build Q T|M|H; addrpct Q/P 1-123;
xcoord Q 913000-1067000; ycoord Q 121000-272000"""

# -- written on 17 November 2026 before the rules of cut words, participles and last columns, and not looked at since --

NCCTG_LUNG = """inst Q/P 1-33; time P/S 5-1022; status O 1|2; age Q 39-82; sex Q 1|2; ph.ecog S 0-3; ph.karno S
50-100; pat.karno S 30-100; meal.cal S/P 96-2600; wt.loss S/P 0-68"""
ROTTERDAM = """pid I n; year P/Q 1978-1993; age Q 24-90; meno S/Q 0|1; size S/P <=20|20-50|>50; grade S 2|3; nodes S
0-34; pgr S/P 0-5004; er S/P 0-3275; hormon S 0|1; chemo S 0|1; rtime P/S 36-7043; recur O 0|1; dtime P/S 36-7043;
death O 0|1"""
IPUMS_DHS = """CASEID I u; YEAR P/Q 2003|2008|2014; PERWEIGHT P 0.1-5.0; GEO_GH Q 1-10; URBAN Q 1|2; AGE Q 15-49;
MARSTAT Q 10-42; EDUCLVL Q 0-3; RELIGION S 1-9; WEALTHQ S/Q 1-5; CHEB Q/S 0-12; CURRWORK Q/P/S 0|1; FPCURRUSE S 0|1;
HIVTESTED S/P 0|1; DVPPHYSFQ S 0-3; HWWBMI S/P 12.0-60.0"""
PISA = """CNT Q DEU|FRA|BRA; CNTSCHID Q 101-140; CNTSTUID I n; ST004D01T Q 1|2; AGE Q 15.25-16.33; GRADE Q/P 0-3;
IMMIG Q 1-3; LANGN Q 105-148; HISCED Q 0-6; MISCED Q/P 0-6; BMMJ1 Q/P/S 11-88; ESCS S/Q 0.0-4.0; REPEAT S 0|1; BELONG
S/P 0.0-3.0; BEINGBULLIED S 0.0-3.0; PV1MATH O 200.0-800.0; PV1READ O 200.0-800.0; W_FSTUWT P 1.0-90.0"""
MEPS = """DUPERSID I n; REGION21 Q 1-4; AGE21X Q 0-85; SEX Q 1|2; RACETHX Q 1-5; MARRY21X Q 1-6; EDUCYR Q 0-17;
EMPST31 Q 1-4; POVCAT21 S 1-5; TTLP21X S/Q 0-250000; INSCOV21 S/Q/P 1-3; RTHLTH31 S 1-5; MNHLTH31 S 1-5; HIBPDX S 1|2;
DIABDX_M18 S 1|2; ASTHDX S 1|2; CANCERDX S 1|2; ADSMOK42 S 1|2; TOTEXP21 O 0-90000; PERWT21F P 500.0-60000.0"""
SHARE = """mergeid I u; hhid8 I/P repeat; country Q 11-35; gender Q 1|2; yrbirth Q 1920-1970; age_int Q 50-102; mstat
Q 1-6; isced1997_r Q 0-6; hhsize Q 1-6; partnerinhh Q/P 1|3; cjs Q 1-6; thinc2 S/Q 0-200000; sphus S 1-5; chronicw8c S
0-8; eurod S 0-12; gali S 0|1; maxgrip S/P 5-70; esmoked S 1|5; casp S 12-48; nchild Q/P 0-8; deceased O 0|1"""
MROZ = """lfp O yes|no; k5 Q/P 0-3; k618 Q/P 0-8; age Q 30-60; wc Q/P yes|no; hc Q/P yes|no; lwg S/P 0.1-3.2; inc S
0.0-96.0"""
CHILE = """region Q C|N|S|SA; population P/Q 3750-250000; sex Q M|F; age Q 18-70; education Q P|S|PS; income S
2500-200000; statusquo S/P 0.0-2.0; vote O Y|N|A|U"""
PROMOTION = """employee_id I n; department Q Sales|HR|R&D; region Q region_2|region_7|region_22; education Q
Bachelors|Masters; gender Q f|m; recruitment_channel P/Q sourcing|other|referred; no_of_trainings P/S/Q 1-9; age Q
20-60; previous_year_rating S 1-5; length_of_service Q 1-34; KPIs_met S 0|1; awards_won S/P 0|1; avg_training_score S
40-99; is_promoted O 0|1"""
CROSS_SELL = """id I n; Gender Q Male|Female; Age Q 20-85; Driving_License P/Q/S 0|1; Region_Code Q 0-52;
Previously_Insured P/S/Q 0|1; Vehicle_Age Q/P < 1 Year|1-2 Year|> 2 Years; Vehicle_Damage S/P/Q Yes|No; Annual_Premium
S/Q 2630-90000; Policy_Sales_Channel P/Q 1-163; Vintage P/Q 10-299; Response O 0|1"""
SDC_TEST = """urbrur Q 1|2; roof P/Q/S 2-9; walls P/Q/S 2-9; water P/Q/S 1-9; electcon P/Q/S 1|2; relat Q 1-9; sex Q
1|2; age Q 0-95; hhcivil Q 1-4; expend S/Q 100-90000000; income S/Q 1000-99000000; savings S/Q 10000-9900000; ori_hid
I/P repeat; sampling_weight P 100; household_weights P 25.0-30.0"""
OKCUPID = """age Q 18-69; body_type Q/S fit|average|thin; diet S/Q/P vegan|anything; drinks S socially|often|not at
all; drugs S never|sometimes; education Q college|masters; essay0 I text; ethnicity Q white|asian|black; height Q
55-80; income S/Q 20000-1000000; job Q artistic|sales|medicine; last_online P/Q date:2011-2012; location Q town;
offspring Q/S has kids|none; orientation S straight|gay|bisexual; pets P/Q cats|dogs; religion S atheism|buddhism; sex
Q m|f; sign Q/P leo|virgo|aries; smokes S no|yes; speaks Q english|spanish; status Q/S single|seeing someone"""
EMPLOYEE_FUTURE = """Education Q Bachelors|Masters|PHD; JoiningYear Q 2012-2018; City Q Pune|Bangalore|New Delhi;
PaymentTier S 1-3; Age Q 22-41; Gender Q Male|Female; EverBenched S/P/Q Yes|No; ExperienceInCurrentDomain Q/P 0-7;
LeaveOrNot O 0|1"""
BOSTON_MORTGAGE = """deny O no|yes; pirat S/P 0.0-3.0; hirat S/P 0.0-3.0; lvrat S/P 0.02-1.95; chist S 1-6; mhist S
1-4; phist S no|yes; unemp P/Q 1.8-10.6; selfemp Q no|yes; insurance P/S/Q no|yes; condomin P/Q no|yes; afam Q no|yes;
single Q no|yes; hschool Q no|yes"""
PFLEGEHEIM = """BewohnerNr I n; Bewohner I name; Geb.-Dat. Q date:1925-1960; Geschl. Q m|w; Zimmer Q/P 101-160; Einzug
Q date:2015-2023; Pflegegrad S 1-5; Demenz S ja|nein; Stürze_12M S 0-6; BMI S/Q 16.0-38.0; Kostenträger P/S/Q
Kasse|Sozialamt; Hausarzt I/Q/P name; Angehörige_Tel I phone; Freiheitsentz._Maßnahmen S ja|nein; Verstorben O
ja|nein"""
STUDENTI_IT = """matricola I n; cognome_nome I name; sesso Q M|F; anno_nascita Q 1990-2005; provincia_res Q
Milano|Bari|Roma; cittadinanza Q ITA|ROU; corso_laurea Q/P Fisica|Legge; voto_maturita S 60-100; ISEE S/Q 0-60000;
borsa_studio S/P/Q si|no; cfu_acquisiti S/P 0-180; media_esami S 18.0-30.0; DSA S si|no; fuori_corso S si|no;
abbandonato O si|no"""
INQUILINOS_ES = """expediente I n; DNI_titular I dni; fecha_alta Q date:2005-2022; edad_titular Q 20-90; n_miembros Q
1-8; barrio Q town; nacionalidad Q ESP|MAR|ECU; situacion_laboral Q activo|paro; renta_mensual S/Q 300-3000;
ayudas_sociales S si|no; minusvalia S si|no; victima_vg S si|no; impagados S 0-12; desahuciado O si|no; observaciones
I text"""

# -- held out on 18 November 2026: tables of people, drawn by seed from the titles of Rdatasets (public) before
# the rules of survival times, years and ratings; their columns were read and labelled after those rules --

MEDICAID_1986 = """rownames I n; visits O 0-50; exposure P 32-120; children Q 0-9; age Q 16-105; income S 0.5-17.5;
health1 S 0.0-7.2; health2 S 0.0-3.0; access P/S 0.0-1.0; married Q no|yes; gender Q female|male; ethnicity Q
cauc|other; school Q 0-18; enroll Q/P/S no|yes; program S/Q/P afdc|ssi"""
NMES_1988 = """rownames I n; visits O 0-89; nvisits S 0-104; ovisits S 0-141; novisits S 0-155; emergency S 0-12;
hospital S 0-8; health S average|excellent|poor; chronic S 0-8; adl S limited|normal; region Q
midwest|northeast|other|west; age Q 6.6-10.9; afam Q no|yes; gender Q female|male; married Q no|yes; school Q 0-18;
income S 0.0-54.8; employed Q no|yes; insurance S/Q/P no|yes; medicaid S/Q/P no|yes"""
NASS_CDS = """rownames I n; dvcat P/Q/S 1-9km/h|10-24|25-39|40-54|55+; weight P 0.0-57871.6; dead O alive|dead;
airbag P/Q/S airbag|none; seatbelt P/Q/S belted|none; frontal P/Q/S 0|1; sex Q f|m; ageOFocc Q 16-97; yearacc Q/P
1997-2002; yearVeh Q/P 1953-2003; abcat P/Q/S deploy|nodeploy|unavail; occRole Q/P/S driver|pass; deploy P/Q/S 0|1;
injSeverity S 0-6; caseid I u"""
BMT = """rownames I n; group Q/P/S 1-3; t1 S/P 1-2640; t2 S/P 1-2640; d1 O 0|1; d2 O 0|1; d3 S/P 0|1; ta S/P 1-2640;
da S/P 0|1; tc S/P 1-2640; dc S/P 0|1; tp S/P 0-1298; dp S/P 0|1; z1 Q 7-52; z2 Q/P 2-56; z3 Q 0|1; z4 Q/P 0|1; z5
S/P 0|1; z6 S/P 0|1; z7 S/P 24-2616; z8 S/P 0|1; z9 Q/P 1-4; z10 S/P 0|1"""
YOUTH_RISK = """rownames I n; Sleep S/P/Q 8 hours|7 hours|6 hours; Sleep7 S/P/Q 0|1; SmokeLife S No|Yes; SmokeDaily
S No|Yes; MarijuaEver O 0|1; Age Q 14-18"""
MARIJUANA_ARRESTS = """rownames I n; released O No|Yes; colour Q Black|White; year Q/P 1997-2002; age Q 12-66; sex Q
Female|Male; employed Q No|Yes; citizen Q No|Yes; checks S 0-6"""
MIGRAINE = """rownames I n; id I repeat; time P/S/Q 0-99; dos P/S/Q 98-1239; hatype S Aura|Mixed|No Aura; age Q
18-66; airq P 3.0-73.0; medication S continuing|none|reduced; headache O no|yes; sex Q female|male"""
BLOOD_STORAGE = """rownames I n; RBC.Age.Group P/S 1-3; Median.RBC.Age P/S 10-25; Age Q 38.4-79.0; AA Q 0|1; FamHx S
0|1; PVol S 19.4-274.0; TVol S/P 1-3; T.Stage S 1|2; bGS S 1-3; BN+ S/P 0|1; OrganConfined S 0|1; PreopPSA S
1.3-40.1; PreopTherapy S 0|1; Units S/P 1-19; sGS S 1-4; AnyAdjTherapy S 0|1; AdjRadTherapy S 0|1; Recurrence O 0|1;
Censor S/P 0|1; TimeToRecurrence S 0.3-103.6"""
SCHOOL_EXAM = """rownames I n; school Q 1-65; normexam O 0.0-3.7; schgend Q/P boys|girls|mixed; schavg P/S 0.0-0.6;
vr S/P/Q bottom 25%|mid 50%|top 25%; intake S/Q/P bottom 25%|mid 50%|top 25%; standLRT S 0.0-3.0; sex Q F|M; type
Q/P Mxd|Sngl; student I 1-913"""
BIRTHS_2014 = """rownames I n; fage Q 15-85; mage Q 14-47; mature Q mature mom|younger mom; weeks S/P/Q 21-46;
premie O full term|premie; visits S 0-30; gained S 0-98; weight S/Q 0.8-10.6; lowbirthweight O low|not low; sex Q
female|male; habit S nonsmoker|smoker; marital Q married|not married; whitemom Q not white|white"""
CENSUS_2000 = """rownames I n; census_year P/Q 2000; state_fips_code Q Florida|Ohio|Texas|Utah|Iowa;
total_family_income S/Q 0-892050; age Q 0-93; sex Q Female|Male; race_general Q White|Black|Two major races;
marital_status Q Divorced|Married|Never; total_personal_income S/Q 0-456000"""
ESS_GB = """rownames I n; name P/I ESS9e01_2; essround P 9; edition P 1.2; idno I n; cntry Q/P GB; region Q
London|Wales|Scotland; brncntr Q/P 1; stintrvw Q/P date:2018-2019; endintrvw Q/P date:2018-2019; imbgeco S 0-10;
imueclt S 0-10; imwbcnt S 0-10; immigsent O 0-30; agea Q 15-90; female Q 0|1; eduyrs Q 3-41; uempla Q/S 0|1;
hinctnta S 1-10; lrscale S 0-10"""
CGD = """rownames I n; id I repeat; center Q Scripps Institute|Amsterdam|NIH|Harvard; random Q date:1988-1989; treat
S placebo|rIFN-g; sex Q female|male; age Q 1-44; height Q 76.3-189.0; weight Q 10.4-101.5; inherit S
X-linked|autosomal; steroids S 0|1; propylac S 0|1; hos.cat Q/P US:NIH|US:other|Europe:other; tstart P/S 0-373; enum
P/Q/S 1-8; tstop P/S 4-439; status O 0|1"""
RETINOPATHY = """rownames I n; id I repeat; laser S argon|xenon; age Q 1-58; eye S/P/Q left|right; trt S 0|1; risk S
6-12; time S/P 0.3-75.0; status O 0|1"""
HOMICIDES = """rownames I n; uid I n; city_name Q town; offense_code S 09A|09B; offense_type O murder|negligent
manslaughter; date_single Q date:2015-2015; address I street; longitude Q 73.7-118.6; latitude Q 32.1-42.4;
location_type Q/P/S street|home|bar|park; location_category Q/P/S street|residence|other; fips_state Q 4-51;
fips_county Q 5-810; tract Q 200-843900; block_group Q 1-7; block Q 1000-7010"""
RECIDIVISM = """rownames I n; black Q 0|1; alcohol S 0|1; drugs S 0|1; super S/P 0|1; married Q 0|1; felon S 0|1;
workprg S/P/Q 0|1; property S 0|1; person S 0|1; priors S 0-28; educ Q 1-19; rules S 0-27; age Q 198-933; tserved S
0-219; follow P/S 70-81; durat O 1-81; cens O 0|1; ldurat S 0.0-4.4"""
WAGE_1980 = """rownames I n; wage O 115-3078; hours Q/P/S 20-80; IQ S 50-145; KWW S 12-56; educ Q 9-18; exper Q
1-23; tenure Q/P 0-22; age Q 28-38; married Q 0|1; black Q 0|1; south Q 0|1; urban Q 0|1; sibs Q 0-14; brthord Q
1-10; meduc Q 0-18; feduc Q 0-18; lwage S 4.7-8.0"""

# -- ten written from memory, later on that day: recall of outcomes 0.64 at first sight --

OBESITY = """Gender Q Female|Male; Age Q 14.0-61.0; Height Q 1.45-1.98; Weight Q 39.0-173.0;
family_history_with_overweight S/Q yes|no; FAVC S/P yes|no; FCVC S/P 1.0-3.0; NCP S/P 1.0-4.0; CAEC S/P/Q
Sometimes|Frequently|Always|no; SMOKE S yes|no; CH2O S/P 1.0-3.0; SCC S/P/Q yes|no; FAF S/P 0.0-3.0; TUE S/P 0.0-2.0;
CALC S/P/Q no|Sometimes|Frequently; MTRANS Q/P Walking|Automobile|Bike|Public_Transportation; NObeyesdad O
Normal_Weight|Overweight_Level_I|Obesity_Type_I|Insufficient_Weight"""
CARD_1995 = """id I n; nearc2 Q/P 0|1; nearc4 Q/P 0|1; educ Q 1-18; age Q 24-34; fatheduc Q 0-18; motheduc Q 0-18;
weight P 75607-1752340; momdad14 Q/P/S 0|1; sinmom14 Q/P/S 0|1; step14 Q/P/S 0|1; reg661 Q/P 0|1; reg662 Q/P 0|1;
south66 Q/P 0|1; black Q 0|1; smsa Q 0|1; south Q 0|1; smsa66 Q/P 0|1; wage O 100-2404; enroll Q/P/S 0|1; KWW S 4-56;
IQ S 50-149; married Q 1-6; libcrd14 Q/P/S 0|1; exper Q 0-23; lwage S 4.6-7.8; expersq Q/P 0-529"""
ICU = """ID I n; STA O 0|1; AGE Q 16-92; SEX Q 0|1; RACE Q 1-3; SER S/P/Q 0|1; CAN S 0|1; CRN S 0|1; INF S 0|1; CPR S
0|1; SYS S 36-256; HRA S 39-192; PRE S/P 0|1; TYP S/P/Q 0|1; FRA S 0|1; PO2 S 0|1; PH S 0|1; PCO S 0|1; BIC S 0|1; CRE
S 0|1; LOC S 0-2"""
ILPD = """Age Q 4-90; Gender Q Female|Male; Total_Bilirubin S 0.4-75.0; Direct_Bilirubin S 0.1-19.7;
Alkaline_Phosphotase S 63-2110; Alamine_Aminotransferase S 10-2000; Aspartate_Aminotransferase S 10-4929;
Total_Protiens S 2.7-9.6; Albumin S 0.9-5.5; Albumin_and_Globulin_Ratio S 0.3-2.8; Dataset O 1|2"""
JOB_CHANGE = """enrollee_id I n; city Q city_103|city_40|city_21|city_115; city_development_index Q/P 0.45-0.95;
gender Q Male|Female|Other; relevent_experience Q Has relevent experience|No relevent experience; enrolled_university
Q no_enrollment|Full time course|Part time course; education_level Q Graduate|Masters|High School|Phd;
major_discipline Q STEM|Arts|Humanities; experience Q <1|1|5|10|>20; company_size Q/P 50-99|<10|10000+; company_type
Q/P Pvt Ltd|Funded Startup|NGO; last_new_job Q/P 1|>4|never; training_hours P/S/Q 1-336; target O 0|1"""
MARKETING = """ID I n; Year_Birth Q 1940-1996; Education Q Graduation|PhD|Master|Basic; Marital_Status Q
Single|Together|Married|Widow; Income S/Q 1730-162397; Kidhome Q 0-2; Teenhome Q 0-2; Dt_Customer Q/P date:2012-2014;
Recency P/S 0-99; MntWines S/P/Q 0-1493; MntFruits S/P/Q 0-199; MntMeatProducts S/P/Q 0-1725; NumDealsPurchases P/S
0-15; NumWebPurchases P/S 0-27; NumStorePurchases P/S 0-13; NumWebVisitsMonth P/S 0-20; AcceptedCmp3 S/P 0|1;
AcceptedCmp4 S/P 0|1; Complain S 0|1; Z_CostContact P 3; Z_Revenue P 11; Response O 0|1"""
MGUS2 = """id I n; age Q 24-96; sex Q F|M; dxyr Q/S/P 1960-1994; hgb S 5.7-18.9; creat S 0.4-22.0; mspike S/P 0.0-3.0;
ptime S/P 1-424; pstat O 0|1; futime S/P 1-424; death O 0|1"""
ROSSI = """week S/P 1-52; arrest O 0|1; fin S/P/Q 0|1; age Q 17-44; race Q 0|1; wexp Q/P/S 0|1; mar Q 0|1; paro S 0|1;
prio S 0-18; educ Q 2-6; emp1 Q/P/S 0|1; emp2 Q/P/S 0|1"""
CRIME_1986 = """narr86 O 0-12; nfarr86 S 0-6; nparr86 S 0-8; pcnv S 0.0-1.0; avgsen S 0.0-59.2; tottime S/P 0.0-63.4;
ptime86 S/P 0-12; qemp86 Q/P/S 0-4; inc86 S/Q 0.0-541.0; durat S/P/Q 0-25; black Q 0|1; hispan Q 0|1; born60 Q 0|1"""
HEALTH_INSURANCE = """rownames I n; health S no|yes; age Q 18-62; limit S no|yes; gender Q female|male; insurance O
no|yes; married Q no|yes; selfemp Q no|yes; family Q 1-14; region Q midwest|northeast|south|west; ethnicity Q
afam|cauc|other; education Q bachelor|ged|highschool|none"""

# -- held out, later on that day: drawn by seed from the titles of Rdatasets after the rules were written --

EBMT = """rownames I n; id I n; prtime S/P 0.0-2767.0; prstat O 0|1; rfstime S/P 0.0-2824.0; rfsstat O 0|1; dissub S
ALL|AML|CML; age Q 20-40|<=20|>40; drmatch P/Q/S Gender mismatch|No gender mismatch; tcd S/P No TCD|TCD"""
TOENAIL = """rownames I n; patientID I repeat; outcome O moderate or severe|none or mild; treatment S
itraconazole|terbinafine; time P/S/Q 0.0-18.5; visit P/Q/S 1-7"""
MEDPAR = """rownames I n; los O 1-116; hmo Q/P/S 0|1; white Q 0|1; died O 0|1; age80 Q 0|1; type S/P/Q 1-3; type1
S/P/Q 0|1; type2 S/P/Q 0|1; type3 S/P/Q 0|1; provnum Q/P/I 30001-30060"""
MUSCATINE = """rownames I n; id I repeat; gender Q F|M; base_age Q 6-14; age Q 6-18; occasion P/Q 1-3; obese O no|yes;
numobese O 0|1"""
ARTHRITIS = """rownames I n; id I repeat; y O 1-5; sex Q 1|2; age Q 21-66; trt S 1|2; baseline S 1-5; time P/S/Q
1-5"""
PNEUMON = """rownames I n; chldage Q 0.5-12.0; hospital O 0|1; mthage Q 14-29; urban Q 0|1; alcohol S 0-4; smoke S
0-2; region Q 1-4; poverty S 0|1; bweight S/Q 0|1; race Q 1-3; education Q 0-19; nsibs Q 0-6; wmonth P/S 0-28; sfmonth
P/S 0-18; agepn S/P/Q 0-12"""
EVALS = """rownames I n; course_id I/P/Q n; prof_id I repeat; score O 2.3-5.0; rank Q teaching|tenure track|tenured;
ethnicity Q minority|not minority; gender Q female|male; language Q english|non-english; age Q 29-73; cls_perc_eval
P/S/Q 10.4-100.0; cls_did_eval P/S/Q 5-380; cls_students P/Q 8-581; cls_level P/Q lower|upper; cls_profs P/Q
multiple|single; cls_credits P/Q multi credit|one credit; bty_f1lower S 1-8; bty_f1upper S 1-9; bty_f2upper S 1-10;
bty_m1lower S 1-7; bty_avg S 1.7-8.2; pic_outfit P/Q/S formal|not formal; pic_color P/Q black&white|color"""
PROSTATE = """rownames I n; grade S mode|poor; stage S T1ab|T1c|T2; ageGroup Q 66-69|70-74|75-79|80+; survTime S/P
0-119; status O 0-2"""

# -- held out, eleventh time: education, tax, housing, traffic, staff in five languages, clinical trials --

STAR_1985 = """gender Q female|male; ethnicity Q cauc|afam|asian|hispanic; birth Q 1979 Q4|1980 Q1|1980 Q2|1980 Q3;
stark P/S/Q regular|small|regular+aide; readk O 315-627; mathk O 288-626; lunchk S/Q free|non-free; schoolk Q
inner-city|suburban|rural|urban; degreek P/Q bachelor|master|specialist; ladderk P/Q
level1|level2|apprentice|notladder; experiencek P/Q 0-27; tethnicityk P/Q cauc|afam; systemk Q/P 1-42; schoolidk Q
1-79"""
ACTG175 = """pidnum I n; age Q 12-70; wtkg Q/S/P 31.0-160.0; hemo S 0|1; homo S 0|1; drugs S 0|1; karnof S
70|80|90|100; oprior S/P 0|1; z30 S/P 0|1; preanti S/P 0-2851; race Q 0|1; gender Q 0|1; strat S/P 1-3; symptom S 0|1;
treat S 0|1; offtrt S/P 0|1; cd40 S 0-1199; cd420 S 49-1119; cd80 S 40-5011; cens O 0|1; days S/P 14-1231; arms S/P
0-3"""
TAX_RETURNS = """taxsimid I n; year P/Q 2019|2020; state Q 1-51; mstat Q 1|2; page Q 18-90; sage Q 0-90; depx Q 0-6;
pwages S 0-250000; swages S 0-180000; dividends S 0-9000; intrec S/P 0-5000; pensions S 0-60000; gssi S 0-30000;
rentpaid S/P 0-24000; proptax S/P 0-12000; fiitax O 0-60000; siitax S 0-12000; frate S/P 10|12|22|24|32"""
AHS = """CONTROL I n; OMB13CBSA Q 12060|16980|19100|99998; DIVISION Q 1-9; TENURE Q 1-3; HHAGE Q 18-85; HHSEX Q 1|2;
HHRACE Q 1-20; HHMAR Q 1-6; HHGRAD Q 31-47; HHCITSHP Q/S 1-5; NUMPEOPLE Q 1-12; HINCP S 0-300000; RENT S/P/Q 100-4000;
MARKETVAL S/P 20000-900000; BLD P/Q 1-10; YRBUILT P/Q 1919-2020; UNITSIZE P/Q 1-9; MOLDKITCH S/P 1|2; HFOODS S 1-4;
RATINGHS O 1-10; WEIGHT P 500.0-9000.0"""
FARS = """STATE Q 1-56; ST_CASE P/I/Q n; VEH_NO P/Q 0-4; PER_NO P/Q 1-6; COUNTY Q 1-199; MONTH Q/P 1-12; HOUR Q/P
0-23; AGE Q 0-97; SEX Q 1|2|8|9; PER_TYP Q/P/S 1-9; INJ_SEV O 0-4; SEAT_POS P/S/Q 11|13|21|23; REST_USE P/S 0-8;
AIR_BAG P/S 0-9; EJECTION S/P 0-3; DRINKING S 0|1|8|9; ALC_RES S 0-940; DRUGS S 0|1|8|9; HOSPITAL S/P 0-6; HISPANIC Q
0|1|2|3|4|7|99; RACE Q 1|2|3|7|97|99; WORK_INJ S/P 0|1|8"""
STATS19 = """accident_reference I/P n; vehicle_reference P/Q 1-4; casualty_reference P/Q 1-4; casualty_class P/Q/S
1-3; sex_of_casualty Q 1|2; age_of_casualty Q 0-99; age_band_of_casualty Q 1-11; casualty_severity O 1-3;
pedestrian_location P/Q/S 0-10; pedestrian_movement P/Q/S 0-9; car_passenger P/Q/S 0-2; bus_or_coach_passenger P/Q/S
0-4; casualty_type P/Q/S 0-22; casualty_home_area_type Q 1-3; casualty_imd_decile Q/S 1-10; lsoa_of_casualty Q lsoa"""
TRAFFIC_STOPS = """SeqID I u; Date_Of_Stop Q date:2012-2016; Time_Of_Stop P/Q 01:10|12:40|23:15|17:05; Agency P/Q MCP;
SubAgency Q/P 1st district|4th district; Description S text; Location Q/P/I street; Accident S/P No|Yes; Belts S/P
No|Yes; Personal_Injury S No|Yes; Fatal S No|Yes; Alcohol S No|Yes; Work_Zone P/S No|Yes; State Q MD|VA|DC|PA;
VehicleType P/Q 02 - Automobile|05 - Light Duty Truck; Year P/Q 1990-2016; Make P/Q TOYOTA|HONDA|FORD; Color P/Q
BLACK|SILVER|WHITE; Violation_Type O Citation|Warning|ESERO; Charge S 21-801.1|13-409|16-303; Contributed_To_Accident
S/P No|Yes; Race Q BLACK|WHITE|HISPANIC|ASIAN; Gender Q F|M; Driver_City Q town; Driver_State Q MD|VA|DC; DL_State Q
MD|VA|DC; Arrest_Type P/S A - Marked Patrol|Q - Marked Laser"""
HSB2 = """id I n; female Q 0|1; race Q 1-4; ses Q/S 1-3; schtyp Q 1|2; prog Q/P/S 1-3; read O 28-76; write O 31-67;
math O 33-75; science O 26-74; socst O 26-71"""
WERKNEMERS_NL = """werknemersnummer I n; voorletters I/Q/P A.B.|J.|M.C.|P.; achternaam I last; bsn I n; geboortejaar Q
1955-2004; man_vrouw Q M|V; gezinssituatie Q alleenstaand|gehuwd|samenwonend; woongemeente Q town; vestiging Q
Utrecht|Breda|Assen; functieomschrijving Q job; salarisschaal Q/S/P 3-14; bruto_maandloon S 1800-7900; deeltijdfactor
P/Q/S 0.2-1.0; contractsoort Q/P vast|tijdelijk|uitzend; jaren_in_dienst Q 0-40; verzuimdagen S 0-90; ziekmelding S
ja|nee; beoordelingscijfer S 1-10; vertrokken O ja|nee"""
SALARIES_FR = """num_salarie I n; nom_prenom I name; num_secu I n; sexe Q H|F; annee_naissance Q 1955-2004;
situation_familiale Q marié|célibataire|pacsé|divorcé; nb_enfants Q 0-5; commune Q town; csp Q
cadre|employé|ouvrier|technicien; type_contrat Q/P CDI|CDD|intérim; anciennete Q 0-40; salaire_brut S 18000-95000;
prime S/P 0-9000; jours_absence S 0-60; motif_absence S maladie|congé|accident; rqth S oui|non; note_entretien S/P
1-5; demission O oui|non"""
EMPLEADOS_ES = """num_empleado I n; NIF I dni; apellidos I last; sexo Q H|M; anio_nacimiento Q 1955-2004; estado_civil
Q soltero|casado|divorciado|viudo; provincia Q Burgos|Murcia|Huelva; nacionalidad Q ES|RO|MA; hijos_a_cargo Q 0-4;
puesto_trabajo Q job; categoria_profesional Q 1-11; antiguedad Q 0-40; salario_bruto_anual S 14000-90000; complementos
S/P 0-6000; dias_baja S 0-120; afiliado_sindicato S si|no; grado_discapacidad S 0|33|65; evaluacion_desempeno S 1-5;
abandona_empresa O si|no"""
DIPENDENTI_IT = """matricola I n; cognome I last; nome I first; sesso Q M|F; anno_nascita Q 1955-2004; comune_nascita
Q town; stato_civile Q celibe|coniugato|divorziato|vedovo; titolo_studio Q licenza media|diploma|laurea; reparto Q
vendite|officina|ufficio; qualifica Q operaio|impiegato|quadro; livello Q/S/P 1-7; anni_servizio Q 0-40;
tipo_contratto Q/P determinato|indeterminato; retribuzione_lorda S 15000-90000; giorni_malattia S 0-90; legge_104 S
si|no; iscritto_sindacato S si|no; valutazione S 1-5; dimesso O si|no"""
FUNCIONARIOS_PT = """matricula_func I n; nome_completo I name; CPF I n; dt_nasc Q date:1955-2004; sexo Q M|F; raca_cor
Q branca|preta|parda|amarela; escolaridade Q fundamental|médio|superior; cargo Q job; lotacao Q RH|TI|Obras;
municipio_resid Q town; tempo_servico Q 0-40; salario_liquido S 1200-18000; faltas S/P 0-30; atestado_medico S
sim|não; deficiencia S sim|não; filiado_sindicato S sim|não; avaliacao_desempenho S 1-5; desligado O sim|não"""
LICORICE = """preOp_gender Q 0|1; preOp_asa S 1-3; preOp_calcBMI S/Q 15.0-37.0; preOp_age Q 18-86; preOp_mallampati
S/P 1-4; preOp_smoking S 1-3; preOp_pain S 0|1; treat S/P 0|1; intraOp_surgerySize S/P 1-3; extubation_cough S 0-3;
pacu30min_cough S 0-3; pacu30min_throatPain O 0-8; pacu30min_swallowPain S 0-8; pacu90min_cough S 0-3;
postOp4hour_throatPain S 0-7; pod1am_throatPain S 0-6"""
INDO_RCT = """id I n; site Q/P 1_UM|2_IU|3_UK|4_Case; age Q 19-90; risk S 1.0-5.5; gender Q 1_female|2_male; outcome O
0_no|1_yes; sod S/P 0_no|1_yes; pep S 0_no|1_yes; recpanc S 0_no|1_yes; psph S/P 0_no|1_yes; precut S/P 0_no|1_yes;
difcan S/P 0_no|1_yes; amp S/P 0_no|1_yes; brush S/P 0_no|1_yes; bleed S 0_no|1_yes; rx S 0_placebo|1_indomethacin;
status S/Q/P 0_inpatient|1_outpatient"""
STREP_TB = """patient_id I u; arm S/P Streptomycin|Control; dose_strep_g P/S 0|2; dose_PAS_g P/S 0; gender Q M|F;
baseline_condition S 1_Good|2_Fair|3_Poor; baseline_temp S 1_98F|2_99F|3_100F; baseline_esr S 2_11-20|3_21-50|4_51+;
baseline_cavitation S yes|no; strep_resistance S/P 1_sens_0-8|2_mod_8-99|3_resist_100+; radiologic_6m O
1_Death|3_Moderate|6_Considerable; rad_num S/P 1-6; improved O TRUE|FALSE"""
WOHNGELD = """Antragsnummer I n; Antragsteller I name; Geb_Jahr Q 1935-2003; Haushaltsgroesse Q 1-7; Familienstand Q
ledig|verheiratet|geschieden; PLZ Q zip5; Ortsteil Q Nord|Mitte|Süd; Erwerbsstatus Q arbeitslos|Rentner|angestellt;
Mietenstufe P/Q 1-7; Wohnflaeche P/Q/S 20-140; Bruttokaltmiete S/P 200-1500; Gesamteinkommen S 200-2900;
Schwerbehinderung S ja|nein; Bewilligt O ja|nein; Wohngeldbetrag S 0-600"""

# -- held out, twelfth time, after the rules that the eleventh led to; read once --

VETERAN = """trt S/P 1|2; celltype S squamous|smallcell|adeno|large; time S/P 1-999; status O 0|1; karno S 10-99;
diagtime S/P 1-87; age Q 34-81; prior S/P 0|10"""
BIRTHWT = """low O 0|1; age Q 14-45; lwt Q/S/P 80-250; race Q 1-3; smoke S 0|1; ptl S 0-3; ht S/Q 0|1; ui S 0|1; ftv
S/P 0-6; bwt O 709-4990"""
EXAM_SCORES = """gender Q female|male; race_ethnicity Q group A|group B|group C; parental_level_of_education Q some
college|high school|master's degree; lunch S/Q standard|free/reduced; test_preparation_course P/S/Q none|completed;
math_score O 0-100; reading_score O 17-100; writing_score O 10-100"""
RENT_SUPPORT = """tenancy_id I n; tenant_name I name; lead_applicant_age Q 18-90; gender Q F|M; nationality Q
IE|PL|RO; household_type Q single|couple|lone parent; county Q Cork|Kerry|Mayo; weekly_rent S/Q 60-400; hap_payment
S/Q 200-1900; arrears_weeks S 0-30; exit_reason O bought|evicted|left voluntarily"""
GRADUATES_UK = """HUSID I n; UKPRN Q/P 10001|10007; SEXID Q 1|2; AGE Q 18-70; ETHNIC Q 10-80; DISABLE S 0-99; NATION Q
XF|FR|IN; MODE P/Q 1|31; DEGCLASS O 1-5; EMPSTATUS Q/S 1-9; SALARY S 12000-80000; SOC2020 Q 1111-9279; SATISFIED S
1-5"""
PARCOURSUP = """num_candidat I n; nom_candidat I name; sexe Q F|M; date_naissance Q date:2004-2006; boursier S
oui|non; serie_bac Q générale|techno|pro; etablissement_origine Q Lycée A|Lycée B|Lycée C; departement Q 01|33|75;
moyenne_bac S 8.0-19.9; mention O sans|AB|B|TB; admis O oui|non"""
BRON_NL = """registratienummer I n; jaar P/Q 2018-2022; maand P/Q 1-12; gemeente Q town; leeftijd_bestuurder Q 16-95;
geslacht_bestuurder Q M|V; vervoerwijze Q/P auto|fiets|lopend; rijbewijs P/Q/S ja|nee; alcoholgebruik S
ja|nee|onbekend; ernst_letsel O licht|zwaar|dood; afloop_ongeval O letsel|uitsluitend materieel; overtreding S door
rood|te hard|geen"""
SINIESTROS_ES = """id_siniestro I n; provincia Q Burgos|Murcia|Huelva; fecha Q date:2018-2022; edad_conductor Q 18-95;
sexo Q H|M; nacionalidad Q ES|MA|RO; tipo_vehiculo P/Q turismo|moto|camión; positivo_alcohol S S|N; positivo_drogas S
S|N; casco P/S S|N; lesividad O leve|grave|mortal|ileso"""
CONTRIBUENTI_IT = """codice_contribuente I u; codice_fiscale I cf; anno_imposta P/Q 2020-2022; comune_residenza Q
town; classe_eta Q 15-24|25-44|45-64|65+; sesso Q M|F; stato_civile Q celibe|coniugato; tipo_reddito Q/S
dipendente|pensione|autonomo; reddito_complessivo S 0-90000; imposta_netta S 0-30000; detrazioni S/P 0-3000;
accertamento O si|no"""
CENSO_ESCOLAR = """CO_ALUNO I n; NO_ALUNO I name; DT_NASCIMENTO Q date:2003-2014; TP_SEXO Q 1|2; TP_COR_RACA Q 0-5;
CO_MUNICIPIO Q 3500105-3500160; CO_ESCOLA Q 35001-35040; TP_ETAPA_ENSINO Q 4-41; IN_NECESSIDADE_ESPECIAL S 0|1;
IN_BOLSA_FAMILIA S 0|1; NU_FALTAS S/P 0-60; NOTA_FINAL O 0.0-10.0; TP_SITUACAO O aprovado|reprovado|abandono"""
ADSL = """STUDYID P CDISC01; USUBJID I u; SUBJID I n; SITEID Q/P 701-717; AGE Q 50-89; AGEGR1 Q <65|65-80|>80; SEX Q
F|M; RACE Q WHITE|BLACK|ASIAN; ETHNIC Q HISPANIC|NOT HISPANIC; COUNTRY Q USA|CAN; TRT01P S Placebo|Drug Low|Drug High;
SAFFL P/S Y|N; BMIBL S/Q 13.7-40.1; MMSETOT S 10-24; DTHFL O Y|N; EOSSTT O COMPLETED|DISCONTINUED; DCSREAS S/O Adverse
Event|Withdrew"""
WHAS500 = """id I n; age Q 30-104; gender Q 0|1; hr S 35-186; sysbp S 57-244; diasbp S 6-198; bmi S/Q 13.0-45.0; cvd S
0|1; afb S 0|1; sho S 0|1; chf S 0|1; av3 S 0|1; miord S 0|1; mitype S 0|1; year P/Q 1|2|3; los O 0-47; dstat O 0|1;
lenfol S/P 1-2358; fstat O 0|1"""
HELP_RCT = """age Q 19-60; cesd S 1-60; d1 S 0-100; drugrisk S 0-21; e2b S/P 1-21; female Q 0|1; g1b S no|yes;
homeless S homeless|housed; i1 S 0-142; id I n; indtot S 4-45; linkstatus O 0|1; mcs S 6.7-62.2; pcs S 14.0-74.8;
racegrp Q black|hispanic|white|other; satreat S no|yes; sexrisk S 0-14; substance S alcohol|cocaine|heroin; treat S/P
no|yes"""
SWISS_LABOUR = """participation O no|yes; income S 7.1-12.4; age Q 20-62; education Q 1-21; youngkids Q 0-3; oldkids Q
0-6; foreign Q no|yes"""
EVICTIONS = """case_number I u; defendant_name I name; plaintiff P/Q/I Acme Homes|City Housing|Smith Estates;
filing_date Q date:2019-2022; property_zip Q zip5; monthly_rent S/Q 400-3000; amount_owed S/Q 200-15000; represented
S/P yes|no; judgment O plaintiff|dismissed|settled; writ_issued O yes|no"""

# -- held out, thirteenth time, after the rules that the twelfth led to; read once --

JASA = """rownames I n; birth.dt Q date:1905-1950; accept.dt Q date:1967-1974; fu.date Q/S/P date:1968-1974; fustat O
0|1; surgery S 0|1; age Q 8.0-64.0; futime S/P 0-1799; wait.time S/P 0-310; transplant S 0|1; mismatch S/P 0-6; mscore
S/P 0.0-3.1; reject O 0|1"""
QUIT_SMOKING = """id I n; ttr S/P 0-182; relapse O 0|1; grp S/P combination|patchOnly; age Q 22-86; gender Q
Female|Male; race Q white|black|other; employment Q ft|pt|other; yearsSmoking S/Q 9-58; levelSmoking S heavy|light;
priorAttempts S 0-50; longestNoSmoke S 0-6205"""
RESUMES = """job_ad_id P/I/Q 384-700; job_city Q Chicago|Boston; job_industry P/Q manufacturing|other_service;
received_callback O 0|1; firstname I first; race Q black|white; gender Q f|m; years_college Q 0-4; college_degree Q
0|1; honors Q/S/P 0|1; military Q 0|1; resume_quality P/S low|high"""
BEAUTY = """wage O 1.0-77.7; lwage S 0.0-4.35; belavg S 0|1; abvavg S 0|1; exper Q 0-48; looks S 1-5; union S 0|1;
goodhlth S 0|1; black Q 0|1; female Q 0|1; married Q 0|1; south Q 0|1; bigcity Q 0|1; service Q/P 0|1; educ Q 5-17"""
FERTIL2 = """mnthborn Q 1-12; yearborn Q 38-73; age Q 15-49; electric P/S/Q 0|1; radio P/S/Q 0|1; educ Q 0-20; ceb S/Q
0-13; agefbrth Q/S 10-38; knowmeth S 0|1; usemeth O 0|1; idlnchld S/Q 0-20; heduc Q 0-20; urban Q 0|1; evermarr Q
0|1"""
ATTENDANCE = """attend S 2-32; termgpa O 0.0-4.0; priGPA S 0.8-4.0; ACT S 13-32; final O 10-39; atndrte S 6.2-100.0;
hwrte S 12.5-100.0; frosh Q 0|1; soph Q 0|1; skipped S 0-30"""
PAY_GAP = """jobTitle Q Driver|Financial Analyst|Warehouse Associate; gender Q Female|Male; age Q 18-65; perfEval S
1-5; edu Q College|High School|Masters|PhD; dept Q Sales|Operations|Engineering; seniority Q 1-5; basePay O
34208-179726; bonus S 1703-11293"""
CRASH_PERSONS = """UNIQUE_ID I n; COLLISION_ID I/P n; CRASH_DATE Q date:2019-2022; PERSON_ID I u; PERSON_TYPE P/Q/S
Occupant|Pedestrian|Bicyclist; PERSON_INJURY O Injured|Killed|Unspecified; PERSON_AGE Q 0-99; EJECTION S/P Not
Ejected|Ejected; EMOTIONAL_STATUS S Conscious|Shock|Apparent Death; BODILY_INJURY S Head|Back|Knee; COMPLAINT S
Pain|None Visible|Whiplash; PERSON_SEX Q F|M|U"""
LOCATAIRES = """num_locataire I n; nom I last; prenom I first; annee_naissance Q 1930-2004; composition_familiale Q
isolé|couple|monoparental; nb_personnes Q 1-8; quartier Q Nord|Centre|Sud; loyer_mensuel S/Q 200-900; revenu_fiscal
S/Q 0-40000; anciennete_bail Q/P 0-40; impayes_mois S 0-12; expulsion O oui|non"""
BELASTING_NL = """burgerservicenummer I n; belastingjaar P/Q 2019-2021; geboortejaar Q 1930-2003; postcode4 Q
1011-1060; inkomen_box1 S/Q 0-90000; vermogen_box3 S/Q 0-300000; zorgtoeslag S 0-1200; toeslagpartner Q/S ja|nee;
aantal_kinderen Q 0-5; fraude_indicatie O ja|nee; bezwaar_ingediend S/O ja|nee"""
ACCORD = """MaskID I n; female Q 0|1; baseline_age Q 44-80; raceclass Q White|Black|Hispanic|Other; treatment S
Intensive|Standard; cvd_hx_baseline S 0|1; sbp S 90-210; hba1c S 5.0-14.0; gfr S 30-150; event_primary O 0|1;
fuyrs_primary S/P 0.0-7.0; tm_death O 0|1"""
ALUMNOS_ES = """dni_alumno I dni; sexo Q H|M; anio_nacimiento Q 1990-2004; municipio_origen Q town; via_acceso Q/P
bachillerato|FP|mayores 25; nota_acceso S 5.0-14.0; titulacion Q Derecho|Medicina|Historia; creditos_superados S/P
0-240; beca S si|no; discapacidad S si|no; abandono O si|no; nota_media_expediente S/O 5.0-10.0"""

# -- held out, fourteenth time, before the rules for events and goals of studies; used to build them --

MELANOMA = """time S/P 10-5565; status O 1-3; sex Q 0|1; age Q 4-95; year P/Q 1962-1977; thickness S 0.1-17.42; ulcer S
0|1"""
HEART_FAILURE = """age Q 40-95; anaemia S 0|1; creatinine_phosphokinase S 23-7861; diabetes S 0|1; ejection_fraction S
14-80; high_blood_pressure S 0|1; platelets S 25100-850000; serum_creatinine S 0.5-9.4; serum_sodium S 113-148; sex Q
0|1; smoking S 0|1; time S/P 4-285; DEATH_EVENT O 0|1"""
CARDIO_TRAIN = """id I n; age Q 10798-23713; gender Q 1|2; height Q 120-205; weight Q 40-180; ap_hi S 90-200; ap_lo S
50-120; cholesterol S 1-3; gluc S 1-3; smoke S 0|1; alco S 0|1; active S/P 0|1; cardio O 0|1"""
TRAVEL_INSURANCE = """Age Q 25-35; Employment_Type Q Government Sector|Private Sector/Self Employed; GraduateOrNot Q
Yes|No; AnnualIncome S/Q 300000-1800000; FamilyMembers Q 2-9; ChronicDiseases S 0|1; FrequentFlyer P/S/Q Yes|No;
EverTravelledAbroad P/S/Q Yes|No; TravelInsurance O 0|1"""
CUSTOMER_PERSONALITY = """ID I n; Year_Birth Q 1940-1996; Education Q Graduation|PhD|Master|Basic; Marital_Status Q
Married|Together|Single|Widow; Income S/Q 1730-90000; Kidhome Q 0-2; Teenhome Q 0-2; Dt_Customer Q date:2012-2014;
Recency P/S 0-99; MntWines S/P 0-1490; MntMeatProducts S/P 0-1725; NumWebPurchases S/P 0-27; Complain S 0|1; Response
O 0|1"""
CAMPUS = """sl_no I n; gender Q M|F; ssc_p S 40.0-90.0; ssc_b Q/P Central|Others; hsc_p S 37.0-98.0; hsc_b Q/P
Central|Others; hsc_s Q/P Commerce|Science|Arts; degree_p S 50.0-91.0; degree_t Q Sci&Tech|Comm&Mgmt|Others; workex
Q/P/S Yes|No; etest_p S 50.0-98.0; specialisation Q Mkt&HR|Mkt&Fin; mba_p S 51.0-78.0; status O Placed|Not Placed"""
CREDIT_APPROVAL = """Gender Q 0|1; Age Q 13-80; Debt S 0.0-28.0; Married Q 0|1; BankCustomer P/Q/S 0|1; Industry Q
Energy|Materials|Industrials; Ethnicity Q White|Black|Latino; YearsEmployed Q 0.0-28.5; PriorDefault S 0|1; Employed Q
0|1; CreditScore S 0-67; DriversLicense P/Q/S 0|1; Citizen Q ByBirth|ByOtherMeans; ZipCode Q zip5; Income S/Q
0-100000; Approved O 0|1"""
AFFAIRS = """affairs O 0-12; gender Q female|male; age Q 17-57; yearsmarried Q 0-15; children Q no|yes; religiousness
S 1-5; education Q 9-20; occupation Q 1-7; rating S 1-5"""
DOCTOR_VISITS = """visits O 0-9; gender Q female|male; age Q 0.19-0.72; income S 0.0-1.5; illness S 0-5; reduced S
0-14; health S 0-12; private S/Q no|yes; freepoor S/Q no|yes; freerepat S/Q no|yes; nchronic S no|yes; lchronic S
no|yes"""
INFERT = """education Q 0-5yrs|6-11yrs|12+ yrs; age Q 21-44; parity S/Q 1-6; induced S 0-2; case O 0|1; spontaneous S
0-2; stratum P 1-83; pooled.stratum P 1-63"""
STUDENT_DEPRESSION = """id I n; Gender Q Male|Female; Age Q 18-59; City Q town; Profession Q Student|Teacher|Chef;
Academic_Pressure S 1-5; CGPA S 5.0-10.0; Study_Satisfaction S 1-5; Sleep_Duration S less than 5|5-6|7-8;
Dietary_Habits S Healthy|Moderate|Unhealthy; Degree Q BA|BSc|MTech; Have_you_ever_had_suicidal_thoughts_? S Yes|No;
Work/Study_Hours P/S/Q 0-12; Financial_Stress S 1-5; Family_History_of_Mental_Illness S Yes|No; Depression O 0|1"""
LUNG_SURVEY = """GENDER Q M|F; AGE Q 21-87; SMOKING S 1|2; YELLOW_FINGERS S 1|2; ANXIETY S 1|2; PEER_PRESSURE S 1|2;
CHRONIC_DISEASE S 1|2; FATIGUE S 1|2; ALLERGY S 1|2; WHEEZING S 1|2; ALCOHOL_CONSUMING S 1|2; COUGHING S 1|2;
SHORTNESS_OF_BREATH S 1|2; SWALLOWING_DIFFICULTY S 1|2; CHEST_PAIN S 1|2; LUNG_CANCER O YES|NO"""
MASSNAHMEN = """Kundennummer I n; Name I name; Geburtsjahr Q 1960-2004; Geschlecht Q m|w|d; Schulabschluss Q
Haupt|Real|Abitur; Berufserfahrung_Jahre Q 0-40; Dauer_Arbeitslosigkeit S/P/Q 1-120; Massnahme S/P/Q
Sprachkurs|Umschulung|Coaching; Sanktion S ja|nein; Vermittelt O ja|nein; Wiedereingliederung_6M O 0|1"""
CHIRURGIE = """Pat_ID I n; Alter Q 18-95; Geschl Q m|w; BMI S/Q 16.0-48.0; ASA S 1-4; OP_Dauer_min P/S 20-400;
Verweildauer S/P 1-60; Komplikation O ja|nein; Wundinfekt S ja|nein; Revision_30T O 0|1; Mortalitaet_90T O 0|1"""
SEJOURS = """IPP I n; nom_patient I last; sexe Q F|M; age_entree Q 0-99; code_postal Q zip5; mode_entree P/Q/S
domicile|mutation|transfert; DP S icd; duree_sejour S/P 0-60; reanimation S oui|non; réadmission_30j O oui|non;
décès_hospitalier O oui|non"""
BANCO_ES = """id_cliente I n; edad Q 18-90; sexo Q H|M; provincia Q Burgos|Murcia|Huelva; nivel_estudios Q
primarios|secundarios|universitarios; ingresos_mensuales S/Q 600-6000; antiguedad_cliente Q/P 0-30; saldo_medio S/Q
0-40000; num_productos P/S/Q 1-6; moroso O si|no; baja_voluntaria O si|no"""
INVALSI = """CODICE_STUDENTE I u; SESSO Q M|F; ANNO_NASCITA Q 2002-2010; REGIONE Q Lazio|Puglia|Veneto; CITTADINANZA Q
italiana|straniera; TITOLO_PADRE Q licenza|diploma|laurea; TITOLO_MADRE Q licenza|diploma|laurea; REGOLARITA S/Q/P
regolare|posticipo|anticipo; VOTO_ITA S 3-10; VOTO_MAT S 3-10; LIVELLI_MAT O 1-5"""
GGZ_NL = """clientnummer I n; leeftijd Q 18-90; geslacht Q M|V; postcode4 Q 1011-1060; verwijzer P/Q/S
huisarts|ziekenhuis|zelf; hoofddiagnose S angst|depressie|psychose; medicatie S ja|nee; opnamedagen S/P 0-90;
suicidepoging S ja|nee; dropout_behandeling O ja|nee; heropname O ja|nee"""
INTERNACOES_PT = """N_AIH I n; NASC Q date:1930-2020; SEXO Q 1|3; MUNIC_RES Q 350010-350060; RACA_COR Q 1-5;
DIAG_PRINC S icd; DIAS_PERM S/P 0-60; UTI_MES_TO S/P 0-20; VAL_TOT S/Q 100.0-9000.0; MORTE O 0|1"""
PERSONAL_LOAN = """ID I n; Age Q 23-67; Experience Q 0-43; Income S/Q 8-224; ZIP_Code Q zip5; Family Q 1-4; CCAvg S/Q
0.0-10.0; Education Q 1-3; Mortgage S/Q 0-635; Personal_Loan O 0|1; Securities_Account S/P/Q 0|1; CD_Account S/P/Q
0|1; Online P/S/Q 0|1; CreditCard P/S/Q 0|1"""

# -- held out, fifteenth time, written with the fourteenth; read once --

THORACIC = """DGN S DGN1|DGN2|DGN3; PRE4 S 1.44-6.3; PRE5 S 0.96-6.3; PRE6 S PRZ0|PRZ1|PRZ2; PRE7 S T|F; PRE8 S T|F;
PRE14 S OC11|OC12|OC13; PRE17 S T|F; PRE30 S T|F; AGE Q 21-87; Risk1Yr O T|F"""
HEPATITIS_UCI = """Class O 1|2; AGE Q 7-78; SEX Q 1|2; STEROID S 1|2; ANTIVIRALS S 1|2; FATIGUE S 1|2; MALAISE S 1|2;
ANOREXIA S 1|2; LIVER_BIG S 1|2; SPIDERS S 1|2; ASCITES S 1|2; BILIRUBIN S 0.3-8.0; ALK_PHOSPHATE S 26-295; SGOT S
14-648; ALBUMIN S 2.1-6.4; PROTIME S/P 0-100; HISTOLOGY S 1|2"""
CERVICAL = """Age Q 13-84; Number_of_sexual_partners S 1-28; First_sexual_intercourse S/Q 10-32; Num_of_pregnancies S/Q
0-11; Smokes S 0|1; Smokes_(years) S 0.0-37.0; Hormonal_Contraceptives S 0|1; IUD S 0|1; STDs S 0|1; STDs:HIV S 0|1;
Dx:Cancer O 0|1; Hinselmann O 0|1; Schiller O 0|1; Citology O 0|1; Biopsy O 0|1"""
BANK_CHURNERS = """CLIENTNUM I n; Attrition_Flag O Existing Customer|Attrited Customer; Customer_Age Q 26-73; Gender Q
M|F; Dependent_count Q 0-5; Education_Level Q Graduate|College|Doctorate; Marital_Status Q Married|Single|Divorced;
Income_Category S/Q Less than $40K|$40K - $60K|$120K +; Card_Category P/Q/S Blue|Silver|Gold; Months_on_book P/Q/S
13-56; Credit_Limit S/Q 1438-34516; Total_Trans_Amt S/Q 510-18484; Avg_Utilization_Ratio S 0.0-0.99"""
TURNOVER_RU = """stag Q/P/S 0.4-179.4; event O 0|1; gender Q m|f; age Q 18-58; industry Q Banks|Retail|IT; profession Q
HR|Sales|Finance; traffic P/S/Q advert|friends|empjs; coach P/S/Q yes|no|my head; head_gender P/Q m|f; greywage S/Q/P
white|grey; way P/Q/S bus|car|foot; extraversion S 1.0-10.0; independ S 1.0-10.0; selfcontrol S 1.0-10.0; anxiety S
1.7-10.0; novator S 1.0-10.0"""
RWM5YR = """id I repeat; docvis O 0-121; hospvis S 0-51; year P/Q 1984-1988; edlevel Q 1-4; age Q 25-64; outwork Q/S
0|1; female Q 0|1; married Q 0|1; kids Q 0|1; hhninc S 0.0-30.67; educ Q 7-18; self Q 0|1"""
CREDIT_CARD = """card O yes|no; reports S 0-14; age Q 18-83; income S 1.5-13.5; share S 0.0-0.9; expenditure S/Q
0.0-3099.5; owner Q yes|no; selfemp Q yes|no; dependents Q 0-6; months Q 0-540; majorcards P/S/Q 0|1; active S/P 0-46"""
SMOKE_BAN = """smoker O yes|no; ban S/P/Q yes|no; age Q 18-88; education Q hs|some college|college|master; afam Q
yes|no; hispanic Q yes|no; gender Q male|female"""
AIDS2 = """state Q NSW|QLD|VIC|Other; sex Q F|M; diag S/P/Q 8302-11503; death S/P/Q 8469-11504; status O A|D; T.categ S
hs|hsid|id|het|haem|blood; age Q 0-82"""
OVARIAN = """futime S/P 59-1227; fustat O 0|1; age Q 38.0-75.0; resid.ds S 1|2; rx S/P 1|2; ecog.ps S 1|2"""
SLEEP_HEALTH = """Person_ID I n; Gender Q Male|Female; Age Q 27-59; Occupation Q job; Sleep_Duration S 5.8-8.5;
Quality_of_Sleep S 4-9; Physical_Activity_Level S 30-90; Stress_Level S 3-8; BMI_Category S/Q Normal|Overweight|Obese;
Blood_Pressure S 126/83|125/80|140/90; Heart_Rate S 65-86; Daily_Steps S 3000-10000; Sleep_Disorder O
None|Apnea|Insomnia"""
USE_OF_FORCE = """INCIDENT_NUM I u; OFFICER_ID I/P n; CITIZEN_ID I n; CITIZEN_RACE Q Black|White|Hispanic; CITIZEN_SEX
Q Male|Female; CITIZEN_INJURED S Yes|No; CITIZEN_ARRESTED O Yes|No; CITIZEN_INFL_TYPE S Alcohol|Drugs|None; UOF_REASON
S/P Arrest|Danger|Other; STREET_ADDRESS I street; BEAT Q/P 111-160"""
SSL_CHICAGO = """SSL_SCORE O 10-500; RACE_CODE_CD Q BLK|WHI|WWH; SEX_CODE_CD Q M|F; AGE_CURR Q less than 20|20-30|40-50;
WEAPON_I S Y|N; DRUG_I S Y|N; COMMUNITY_AREA Q Austin|Loop|Uptown; LATEST_DATE P/Q/S 2012-2016; CPD_ARREST_I S Y|N;
NARCOTICS_ARR_CNT S 0-9; PAROLEE_I S Y|N"""
KFZ = """Vertragsnummer I n; Versicherungsnehmer I name; Geburtsdatum Q date:1940-2004; PLZ Q zip5; Geschlecht Q m|w;
Fahrzeugtyp P/Q PKW|Motorrad|Transporter; SF_Klasse S/P/Q 0-35; Jahresbeitrag S/Q 200-2400; Schadenanzahl O 0-4;
Schadenhoehe S/Q 0-20000; Storno O ja|nein"""
STUDIERENDE = """Matrikelnummer I n; Studiengang Q BWL|Physik|Jura; Fachsemester Q 1-16; Geschlecht Q m|w|d; HZB_Note S
1.0-4.0; Staatsangehoerigkeit Q DE|TR|PL; BAfoeG S ja|nein; ECTS S/P 0-180; Pruefung_bestanden O ja|nein;
Studienabbruch O ja|nein"""
ALLOCATAIRES = """matricule I n; age_allocataire Q 18-95; sexe Q F|M; commune_residence Q town; nb_enfants_charge Q
0-6; situation_familiale Q célibataire|marié|divorcé; RSA S oui|non; AAH S oui|non; quotient_familial S 0-2000;
indu_detecte O oui|non; radié O oui|non"""
ESSAI_FR = """ID_PATIENT I u; AGE Q 30-85; SEXE Q F|M; IMC S/Q 17.0-42.0; TABAC S oui|non; ATCD_IDM S 0|1; PAS S 90-200;
traitement S A|B; evenement_cardiaque O 0|1; deces_1an O 0|1"""
INGRESOS_ES = """NHC I n; edad Q 0-100; sexo Q H|M; fecha_ingreso Q date:2019-2023; servicio Q/S/P
cardiología|cirugía|UCI; CIE10 S icd; estancia_dias S/P 0-60; UCI S S|N; exitus O S|N; reingreso_30d O S|N"""
DEGENZE_IT = """id_paziente I n; eta Q 0-100; sesso Q M|F; asl_residenza Q ASL1|ASL2|ASL3; DRG S/P 1-579;
giornate_degenza S/P 0-90; reparto Q/S/P medicina|chirurgia|ortopedia; infezione S si|no; esito_dimissione O
domicilio|trasferito|deceduto; riammissione O si|no"""
SCHULDHULP = """dossiernr I n; geboortejaar Q 1940-2004; geslacht Q M|V|X; wijk Q Noord|Zuid|Centrum; huishoudtype Q
alleen|gezin|stel; inkomstenbron Q/S loon|uitkering|pensioen; schuldbedrag S/Q 500-60000; aantal_schuldeisers S 1-30;
traject_geslaagd O ja|nee; huisuitzetting O ja|nee"""
CREDITO_PT = """id_proposta I n; idade Q 18-80; sexo Q M|F; distrito Q Porto|Braga|Faro; profissao Q job;
rendimento_mensal S/Q 600-6000; taxa_esforco S 5-70; incumprimento O sim|não; credito_aprovado O sim|não"""
EHR_EXTRACT = """MRN I n; ENC_ID I u; AGE_YRS Q 0-99; SEX Q M|F; ZIP3 Q zip3; INS_TYPE S/Q/P
Medicare|Medicaid|Commercial; LOS_DAYS S/P 0-60; ICU_FLAG S 0|1; READMIT_30D O 0|1; DISCH_DISP S/P 1-20; EXPIRED_FLAG
O 0|1"""
NSDUH = """QUESTID2 I n; AGE3 Q 1-11; IRSEX Q 1|2; NEWRACE2 Q 1-7; EDUHIGHCAT Q 1-5; IRMARIT Q 1-4; INCOME S 1-4;
HEALTH S 1-5; CIGEVER S 1|2; ALCEVER S 1|2; MJEVER S 1|2; COCEVER S 1|2; SUICTHNK S 1|2; MDEYR O 1|2"""

LATER = (
    "thoracic",
    "hepatitis_uci",
    "cervical",
    "bank_churners",
    "turnover_ru",
    "rwm5yr",
    "credit_card",
    "smoke_ban",
    "aids2",
    "ovarian",
    "sleep_health",
    "use_of_force",
    "ssl_chicago",
    "kfz",
    "studierende",
    "allocataires",
    "essai_fr",
    "ingresos_es",
    "degenze_it",
    "schuldhulp",
    "credito_pt",
    "ehr_extract",
    "nsduh",
)
TABLES = {
    name.lower(): spec
    for name, spec in list(globals().items())
    if name.isupper() and isinstance(spec, str) and ";" in spec
}


def split_spec(spec: str) -> list[tuple[str, set[str], str]]:
    """Column, its roles, its values; an outcome is sensitive."""
    return [(column, set(roles.replace("O", "S").split("/")), values) for column, roles, values in split_lines(spec)]


def list_outcomes(spec: str) -> set[str]:
    """The columns that a table is about."""
    return {column for column, roles, _ in split_lines(spec) if "O" in roles}


def split_lines(spec: str) -> list[list[str]]:
    """Column, roles, values, as they are written."""
    return [" ".join(line.split()).split(" ", 2) for line in spec.split(";")]


def make_columns(spec: str, rows: int, seed: int) -> dict[str, list[Any]]:
    """A table with these columns; ages follow from dates of birth, and age groups from ages."""
    draw = random.Random(seed)
    return {column: make_values(values, rows, draw) for column, _, values in split_spec(spec)}


def make_values(kind: str, rows: int, draw: random.Random) -> list[Any]:
    """Values of one column."""
    word, _, rest = kind.partition(":")
    if word in MAKERS:
        return [MAKERS[word](place, draw) for place in range(rows)]
    if word == "date":
        first, last = map(int, rest.split("-"))
        return [f"{draw.randint(first, last)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}" for _ in range(rows)]
    low, dash, high = kind.partition("-")
    if "|" not in kind and dash and low.isdecimal() and high.isdecimal():
        return [draw.randint(int(low), int(high)) for _ in range(rows)]
    if "|" not in kind and dash and "." in low and low.replace(".", "").isdecimal():
        return [round(draw.uniform(float(low), float(high)), 2) for _ in range(rows)]
    texts = kind.split("|")
    chosen = [draw.choice(texts) for _ in range(rows)]
    return [int(text) for text in chosen] if all(map(str.isdecimal, texts)) else chosen


def make_iban(_: int, draw: random.Random) -> str:
    """An IBAN whose check digits fit."""
    account = f"{draw.randint(0, 10**18 - 1):018}"
    return f"DE{98 - int(account + '131400') % 97:02}{account}"


def letters(draw: random.Random, count: int, of: str = "ABCDEFGHKLMNPRSTVWXYZ") -> str:
    """Some letters."""
    return "".join(draw.choice(of) for _ in range(count))


MAKERS: dict[str, Callable[[int, random.Random], Any]] = {
    "n": lambda place, draw: 1001 + 7 * place,
    "u": lambda place, draw: f"{letters(draw, 2)}-{place:05}",
    "repeat": lambda place, draw: 1 + place // 4,
    "first": lambda place, draw: draw.choice(FIRST),
    "last": lambda place, draw: draw.choice(LAST),
    "name": lambda place, draw: f"{draw.choice(FIRST)} {letters(draw, 1)}. {draw.choice(LAST)}",
    "lower": lambda place, draw: f"{draw.choice(FIRST)} {draw.choice(LAST)}".lower(),
    "titled": lambda place, draw: f"{draw.choice(LAST)}, Mr. {draw.choice(FIRST)} {draw.choice(FIRST)}",
    "email": lambda place, draw: f"{draw.choice(FIRST).lower()}.{place}@mail.example",
    "phone": lambda place, draw: f"+49 {draw.randint(30, 999)} {draw.randint(10**5, 10**7)}",
    "street": lambda place, draw: f"{draw.choice(STREETS)} {draw.randint(1, 200)}",
    "town": lambda place, draw: draw.choice(TOWNS),
    "zip5": lambda place, draw: f"{draw.randint(1, 40) * 2003 % 99999:05}",
    "zip3": lambda place, draw: f"{draw.randint(100, 160)}xx",
    "nl": lambda place, draw: f"{draw.randint(1000, 1040)} {letters(draw, 2, 'AB')}",
    "pt": lambda place, draw: f"{draw.randint(1000, 1020)}-{draw.randint(100, 104)}",
    "puma": lambda place, draw: f"{draw.randint(1, 9)}-{draw.randint(100, 109):05}",
    "cabin": lambda place, draw: f"{letters(draw, 1, 'ABCDEF')}{draw.randint(10, 60)}",
    "covid": lambda place, draw: "covid",
    "clinic": lambda place, draw: f"clinic {draw.randint(1, 30)}",
    "lsoa": lambda place, draw: f"E0100{draw.randint(1000, 1040)}",
    "lender": lambda place, draw: f"{draw.randint(10, 25)}-{draw.randint(100, 103)}",
    "job": lambda place, draw: draw.choice(("nurse", "teacher", "driver", "cook", "clerk", "welder", "baker")),
    "icd": lambda place, draw: f"{letters(draw, 1, 'EIJKMN')}{draw.randint(10, 30)}.{draw.randint(0, 9)}",
    "ip": lambda place, draw: ".".join(str(draw.randint(1, 250)) for _ in range(4)),
    "iban": make_iban,
    "ssn": lambda place, draw: f"{draw.randint(100, 899)}-{draw.randint(10, 99)}-{draw.randint(1000, 9999)}",
    "dni": lambda place, draw: f"{draw.randint(10**7, 10**8 - 1)}{letters(draw, 1)}",
    "cf": lambda place, draw: f"{letters(draw, 6)}{draw.randint(10, 99)}A{draw.randint(10, 30)}F{100 + place}X",
    "url": lambda place, draw: f"https://loans.example/{place}",
    "text": lambda place, draw: " ".join(draw.choice(WORDS) for _ in range(draw.randint(6, 14))),
}
